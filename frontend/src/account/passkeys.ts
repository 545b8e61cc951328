// Passkeys: the browser makes and uses them, the server checks them.
import { http } from "../connection/http";
import type { PasskeyChallengeResponse, SetupResponse } from "../connection/messages";

export interface PasskeyProof { challenge: string; assertion: object }
/** What the challenge is good for: what a person does for themselves, or one approval. */
export type PasskeyChallengePath = "/api/passkeys/challenge" | `/api/approvals/${string}/challenge`;
type Options = SetupResponse["passkey"];

/** Whether this browser can be asked in JSON, at an address where passkeys are allowed. */
export const hasPasskeys = (): boolean => globalThis.isSecureContext && typeof globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON === "function";

const asJson = (credential: Credential | null): object | null => (credential as PublicKeyCredential | null)?.toJSON() ?? null;

/** A new passkey for the server; null where the person stopped. */
export async function madePasskey(options: NonNullable<Options>): Promise<object | null> {
  try {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as unknown as PublicKeyCredentialCreationOptionsJSON);
    return asJson(await navigator.credentials.create({ publicKey }));
  } catch {
    return null;
  }
}

/** The answer of a person's passkey to a challenge of the server; null where the person stopped. */
export async function passkeyProof(from: PasskeyChallengePath = "/api/passkeys/challenge", token?: string): Promise<PasskeyProof | null> {
  const { challenge, host } = await http<PasskeyChallengeResponse>("POST", from, { token });
  try {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON({ challenge, rpId: host, userVerification: "required" });
    const assertion = asJson(await navigator.credentials.get({ publicKey }));
    return assertion && { challenge, assertion };
  } catch {
    return null;
  }
}
