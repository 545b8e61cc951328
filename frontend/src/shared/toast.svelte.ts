// What a page says in passing: it is seen for a while, and read aloud.
import { sound } from "../theme/sound";
import { Refused, Unanswered, Unreachable } from "../connection/http";
import { t } from "../i18n/index.svelte";
import { refusal } from "../i18n/refusalText";

export interface Toast {
  id: number;
  text: string;
  clause: string | null;
  kind: "told" | "refused";
}

const LONG = 9_000;
const SHORT = 3_500;
export const toasts = $state<Toast[]>([]);
let made = 0;

function show(text: string, kind: Toast["kind"], clause: string | null): void {
  const same = toasts.findIndex((one) => one.text === text);
  if (same >= 0) toasts.splice(same, 1);
  const toast = { id: (made += 1), text, clause, kind };
  toasts.push(toast);
  setTimeout(() => dismiss(toast.id), kind === "refused" || text.length > 60 ? LONG : SHORT);
}

export function dismiss(id: number): void {
  const place = toasts.findIndex((one) => one.id === id);
  if (place >= 0) toasts.splice(place, 1);
}

/** Takes refusals away that somebody has read: they try again, and what comes next is about the new try. */
export function dismissRefusals(): void {
  for (const one of toasts.filter((toast) => toast.kind === "refused")) dismiss(one.id);
}

export const showMessage = (text: string): void => show(text, "told", null);

/** Why something was not done: in the reader's language, with the clause. */
export function errorText(error: unknown): { text: string; clause: string | null } {
  if (error instanceof Unreachable) return { text: t("common.notReached"), clause: null };
  if (error instanceof Unanswered) return { text: t("common.unanswered"), clause: null };
  if (error instanceof Refused) return { text: refusal(error), clause: error.clause };
  return { text: t("common.fault", error instanceof Error ? error.message : String(error)), clause: null };
}

/** Says so. */
export function showError(error: unknown): void {
  sound("refused");
  const { text, clause } = errorText(error);
  show(text, "refused", clause);
}

/** Does something, and says so where it is refused; undefined then. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    showError(error);
    return undefined;
  }
}
