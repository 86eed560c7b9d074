// The error of a request that cannot be done, in both languages.

export class Refused extends Error {
  // code: the subject: rules, position, player, record, games, move or request; detail: the fault, {en, vi};
  // field: of rules, the field at fault; column and line: in a text, from 1, or null; games: how many a file holds.
  constructor(code, en, vi = "", { field = "", column = null, line = null, games = null } = {}) {
    super(en);
    this.name = "Refused";
    Object.assign(this, { code, detail: { en, vi }, field, column, line, games });
  }
}
