// The error for a request that cannot be carried out, in both languages.

export class Refused extends Error {
  // code: the subject: rules, position, player, record, games, move or request; detail: the fault, {en, vi};
  // field: the field of rules at fault; column and line: in a text, from 1, or null; games: how many a file holds.
  constructor(code, en, vi = "", { field = "", column = null, line = null, games = null } = {}) {
    super(en);
    this.name = "Refused";
    Object.assign(this, { code, detail: { en, vi }, field, column, line, games });
  }
}
