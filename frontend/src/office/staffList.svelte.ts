// The staff list and the devices as the server has them, and the HTTP requests that change them.
import type { StaffRequests } from "../pit/staffRequests.svelte";
import { http, Refused } from "../connection/http";
import type { DeviceResponse, DoneResponse, HealthResponse, InterpretationsResponse, StaffMember } from "../connection/messages";

type Method = "POST" | "DELETE";

/** Ranks that someone can be given, lowest first; the server refuses any other. */
export const RANKS = ["auditor", "cashier", "dealer", "floorperson", "pit-supervisor", "pit-manager", "casino-supervisor", "shift-manager", "administrator"] as const;
/** Devices that can connect. */
export const KINDS = ["terminal", "display", "shaker"] as const;
/** What a key is, when it is read aloud or copied in pieces. */
export const keyOf = (typed: string): string => typed.replace(/\s/g, "").toLowerCase();
export const isKey = (key: string): boolean => /^[0-9a-f]{64}$/.test(key);

/** Highest rank first, then by name. */
export function inOrder(people: readonly StaffMember[]): StaffMember[] {
  const height = (one: StaffMember) => (RANKS as readonly string[]).indexOf(one.rank);
  return [...people].sort((one, other) => height(other) - height(one) || one.person.localeCompare(other.person));
}

export class StaffList {
  people = $state.raw<readonly StaffMember[]>([]);
  devices = $state.raw<readonly DeviceResponse[]>([]);
  tables = $state.raw<readonly string[]>([]);
  interpretations = $state.raw<InterpretationsResponse>({ editions: [], adopted: [] });
  /** How many editions wait for somebody to adopt their interpretations. */
  readonly unadopted: number = $derived.by(() => {
    const adopted = new Set(this.interpretations.adopted.map((one) => one.digest));
    return this.interpretations.editions.filter((one) => !adopted.has(one.digest)).length;
  });
  isKnown = $state(false);
  readonly requests: StaffRequests;
  /** Who may enrol and dismiss. */
  readonly mayChange: boolean;
  /** Who may unlock people and end their sessions. */
  readonly mayRelease: boolean;
  /** Who may adopt interpretations; which rank is enough, the server says. */
  readonly mayAdopt: boolean;

  constructor(requests: StaffRequests, role: string) {
    this.requests = requests;
    this.mayChange = role === "administrator";
    this.mayAdopt = role === "shift-manager";
    this.mayRelease = this.mayChange || this.mayAdopt;
  }

  async look(): Promise<void> {
    const { token } = this.requests;
    const [people, devices, interpretations, health] = await Promise.all([
      http<StaffMember[]>("GET", "/api/staff", { token }),
      http<DeviceResponse[]>("GET", "/api/devices", { token }),
      http<InterpretationsResponse>("GET", "/api/interpretations", { token }),
      http<HealthResponse>("GET", "/health"),
    ]);
    this.people = inOrder(people);
    this.devices = devices;
    this.interpretations = interpretations;
    this.tables = health.tables.map((one) => one.name);
    this.isKnown = true;
  }

  /**
   * Sends a request, with a second person if the server requires one, and loads the list again; null if nobody
   * approved.
   */
  async ask(method: Method, place: readonly string[], body: object | undefined, what: string, needsTwo = false): Promise<DoneResponse | null> {
    const path = `/api/${place.map(encodeURIComponent).join("/")}`;
    const { token } = this.requests;
    const send = (sent: object | undefined) => http<DoneResponse>(method, path, { token, ...(sent ? { body: sent } : {}) });
    let done: DoneResponse | null = null;
    if (!needsTwo) {
      try {
        done = await send(body);
      } catch (error) {
        if (!body || !(error instanceof Refused && error.reason === "second-person")) throw error;
      }
    }
    if (!done) {
      const approval = await this.requests.approval({ endpoint: `${method} /api/${place.join("/")}`, body }, what);
      if (approval === null) return null;
      done = await send({ ...body, approval });
    }
    // The change was made even if the list cannot be loaded now. A secret that is shown once must not be lost.
    await this.look().catch(() => undefined);
    return done;
  }
}
