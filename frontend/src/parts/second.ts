// A second person: what one may not do alone another agrees to, for exactly this ask, once.
import { http } from "../wire/http";
import type { Asked, Floor } from "../wire/floor.svelte";
import type { AnyTell, ApprovalTold, Blank } from "../wire/messages";

export interface Proof { person: string; password: string; code: string }

/** Whether an offer, by its blanks, needs a second person. */
export const needsSecond = (blanks: readonly Blank[]): boolean => blanks.some((blank) => blank.kind === "second");

/** In a demonstration a virtual supervisor agrees; elsewhere a person with his own proof. */
export async function approved(ask: Asked, token: string, proof: Proof | null): Promise<string> {
  const path = proof ? "/api/approvals" : "/api/demo/agree";
  return (await http<ApprovalTold>("POST", path, { body: { ...proof, ask }, token })).approval;
}

/** Sends an ask that a second person has just agreed to. */
export async function sendApproved(floor: Floor, ask: Asked, token: string, proof: Proof | null): Promise<AnyTell> {
  return floor.send({ ...ask, approval: await approved(ask, token, proof) } as Asked);
}
