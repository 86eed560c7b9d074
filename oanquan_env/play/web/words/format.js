// Numbers, names and lists in texts.

export const MINUS = "\u2212";
export const signed = (value) => (value < 0 ? MINUS : value ? "+" : "") + Math.abs(value);
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Lists in sentences, as in "1, 2 and 3". */
export const LISTS = { en: new Intl.ListFormat("en-GB"), vi: new Intl.ListFormat("vi") };

/** Return the form of an English verb for a player, who may be "you". */
export const does = (name, verb) => (name.toLowerCase() === "you" ? verb : `${verb}s`);
