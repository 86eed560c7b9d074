// Texts that this browser stores for the page.

/**
 * Texts stored in this browser. Other pages of the host may have written them, so `get` returns only those that are
 * `valid`.
 */
export const store = {
  get(name, valid = null) {
    try {
      const kept = localStorage.getItem(`oanquan-${name}`);
      return !valid || valid.includes(kept) ? kept : null;
    } catch {
      return null;
    }
  },
  set: (name, value) => {
    try {
      localStorage.setItem(`oanquan-${name}`, value);
    } catch {
      /* private windows */
    }
  },
  /** Return the entries of a stored list for which `valid` holds; keep a copy of a list with others. */
  list(name, valid) {
    const text = store.get(name) || "[]",
      isValid = (entry) => {
        try {
          return valid(entry);
        } catch {
          return false;
        }
      };
    let entries = null;
    try {
      entries = JSON.parse(text);
    } catch {
      /* damaged */
    }
    const good = Array.isArray(entries) ? entries.filter(isValid) : [];
    if (good.length !== entries?.length) store.keepUnread(name, text);
    return good;
  },
  /** Keep a copy of a text that could not be read in whole, because the next `set` replaces it. */
  keepUnread(name, text) {
    const copies = store.get(`${name}-unread`) ?? "";
    if (!copies.includes(`${text}\n`)) store.set(`${name}-unread`, `${copies}${text}\n`);
  },
};

/** Texts stored in this tab only, so that a reload finds them again. */
export const tab = {
  get(name) {
    try {
      return sessionStorage.getItem(`oanquan-${name}`);
    } catch {
      return null;
    }
  },
  set(name, value) {
    try {
      sessionStorage.setItem(`oanquan-${name}`, value);
    } catch {
      /* private windows */
    }
  },
};

export const isText = (value) => typeof value === "string";
export const areTexts = (value) => Array.isArray(value) && value.every(isText);
export const isGame = (value) => isText(value?.text) && areTexts(value.seats) && isText(value.id ?? "");
