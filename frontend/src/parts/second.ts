// A second person: what one may not do alone another agrees to, for exactly this ask, once.
import { http } from "../connection/http";
import type { RequestBody, Floor } from "../connection/floor.svelte";
import type { AnyServerMessage, ApprovalTold, Blank } from "../connection/messages";

export interface Proof { person: string; password: string; code: string }

/** Whether an offer, by its blanks, needs a second person. */
export const needsSecond = (blanks: readonly Blank[]): boolean => blanks.some((blank) => blank.kind === "second");

/** In a demonstration a virtual supervisor agrees; elsewhere a person with his own proof. */
export async function approved(request: RequestBody, token: string, proof: Proof | null): Promise<string> {
  const path = proof ? "/api/approvals" : "/api/demo/agree";
  return (await http<ApprovalTold>("POST", path, { body: { ...proof, request }, token })).approval;
}

/** Sends an ask that a second person has just agreed to. */
export async function sendApproved(floor: Floor, request: RequestBody, token: string, proof: Proof | null): Promise<AnyServerMessage> {
  return floor.send({ ...request, approval: await approved(request, token, proof) } as RequestBody);
}
