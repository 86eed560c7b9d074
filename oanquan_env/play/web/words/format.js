// Numbers and names in texts.

export const MINUS = "\u2212";
export const signed = (value) => (value < 0 ? MINUS : value ? "+" : "") + Math.abs(value);
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
