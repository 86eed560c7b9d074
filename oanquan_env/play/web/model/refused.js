// The error for an impossible request, in both languages.

export class Refused extends Error {
  // `code` is the subject: rules, position, player, record, games, move or request. `detail` {en, vi} describes the
  // error, `field` is the invalid field of rules, `column` and `line` are the place in a text, from 1 or null, and
  // `games` is the number of games in a file.
  constructor(code, en, vi = "", { field = "", column = null, line = null, games = null } = {}) {
    super(en);
    this.name = "Refused";
    Object.assign(this, { code, detail: { en, vi }, field, column, line, games });
  }
}

/** Return the error for a file of the page that could not be loaded. */
export const missing = (file, error = null) => Object.assign(new Error(`${file}: ${error?.message}`), { file });

export const impossible = (en, vi) => new Refused("request", en, vi);
export const notYours = (code) => new Refused(code, "it is not your turn", "chưa đến lượt bạn");
