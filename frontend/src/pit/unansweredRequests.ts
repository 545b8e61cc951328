// Requests without a reply, each with one id. After a lost connection or a reload the same request is sent again with
// the same id, so that it is carried out once. The browser keeps a digest of each request and not the request: it may
// have the number of a ticket, which is as good as money.
const KEPT_FOR = 3_600_000;
const KEY = "taisai-intents";
type Kept = Record<string, { id: string; at: number }>;

function read(): Kept {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "{}") as Kept | null;
    return Object.fromEntries(Object.entries(kept ?? {}).filter(([, one]) => Date.now() - one.at < KEPT_FOR));
  } catch {
    return {}; // whatever lay there is none of ours
  }
}

const write = (kept: Kept): void => sessionStorage.setItem(KEY, JSON.stringify(kept));

/** What stands for a request here. */
export async function digestOf(request: object): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(request)));
  return Array.from(new Uint8Array(bytes), (one) => one.toString(16).padStart(2, "0")).join("");
}

/** Whether it was asked for, and not answered. */
export const isOpen = (what: string): boolean => what in read();

/** Its id: the one that it was asked under, or a new one. */
export function idOf(what: string, make: () => string): string {
  const kept = read();
  const id = kept[what]?.id ?? make();
  write({ ...kept, [what]: { id, at: kept[what]?.at ?? Date.now() } });
  return id;
}

/** It was answered: the next of its kind is another. */
export function answered(what: string): void {
  const { [what]: _over, ...rest } = read();
  write(rest);
}
