// A person's own settings: theme and sound. Sound is off by default.
const THEME = "taisai-theme";
const SOUND = "taisai-sound";
export const THEMES = ["felt", "contrast"] as const;
export type Theme = (typeof THEMES)[number];

const kept = localStorage.getItem(THEME);
const wantsContrast = matchMedia("(prefers-contrast: more)").matches;

export const settings = $state({
  theme: (kept === "contrast" || (kept === null && wantsContrast) ? "contrast" : "felt") as Theme,
  sound: localStorage.getItem(SOUND) === "on",
});
document.documentElement.dataset["theme"] = settings.theme;

export function setTheme(theme: Theme): void {
  settings.theme = theme;
  localStorage.setItem(THEME, theme);
  document.documentElement.dataset["theme"] = theme;
}

export function setSound(isOn: boolean): void {
  settings.sound = isOn;
  localStorage.setItem(SOUND, isOn ? "on" : "off");
}
