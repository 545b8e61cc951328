// Colour chips: colours by name, and how they are drawn.
const COLOURS: Readonly<Record<string, string>> = {
  red: "#c0392b", blue: "#1d4f91", green: "#1f8f4e", yellow: "#e5c100", orange: "#d9730d", purple: "#6c2f8e", pink: "#d75a93", brown: "#6b4423",
};

export const COLOUR_NAMES: readonly string[] = Object.keys(COLOURS);
export const colourOf = (name: string): string => COLOURS[name] ?? "#777";
