// The tour, as far as this browser has gone it.
const REMEMBERED = "taisai-tour";
export const STEPS = ["play", "deal", "look"] as const;
export type Step = (typeof STEPS)[number];

interface Gone { isHidden: boolean; done: Step[] }

function remembered(): Gone {
  try {
    const kept = JSON.parse(localStorage.getItem(REMEMBERED) ?? "{}") as Partial<Gone>;
    return { isHidden: kept.isHidden === true, done: STEPS.filter((step) => kept.done?.includes(step)) };
  } catch {
    return { isHidden: false, done: [] };
  }
}

export const tour = $state<Gone>(remembered());
const keep = (): void => localStorage.setItem(REMEMBERED, JSON.stringify(tour));

export function hide(isHidden: boolean): void {
  tour.isHidden = isHidden;
  keep();
}

export function went(step: Step): void {
  if (!tour.done.includes(step)) tour.done.push(step);
  keep();
}

/** The first step that was not gone yet. */
export const nextStep = (): Step | undefined => STEPS.find((step) => !tour.done.includes(step));
