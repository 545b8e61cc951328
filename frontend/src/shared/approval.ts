// A second person: what one may not do alone another agrees to, for exactly this request, once.
import { http } from "../connection/http";
import type { RequestBody, Connection } from "../connection/connection.svelte";
import type { AnyServerMessage, ApprovalResponse, Blank } from "../connection/messages";

export interface Credentials { person: string; password: string; code: string }

/** Whether an offer, by its blanks, needs a second person. */
export const needsSecondPerson = (blanks: readonly Blank[]): boolean => blanks.some((blank) => blank.kind === "second");

/** In a demonstration a virtual supervisor approves; elsewhere a person with their own credentials. */
export async function approved(request: RequestBody, token: string, proof: Credentials | null): Promise<string> {
  const path = proof ? "/api/approvals" : "/api/demo/agree";
  return (await http<ApprovalResponse>("POST", path, { body: { ...proof, request }, token })).approval;
}

/** Sends a request that a second person has just agreed to. */
export async function sendApproved(connection: Connection, request: RequestBody, token: string, proof: Credentials | null): Promise<AnyServerMessage> {
  return connection.send({ ...request, approval: await approved(request, token, proof) } as RequestBody);
}
