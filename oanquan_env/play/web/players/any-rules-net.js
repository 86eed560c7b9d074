// The net for any rules, as in oanquan_env/search/any_rules_net.py: it folds into a net for given rules, rounded as in
// oanquan_env/search/leaf.py. `any_rules` of catalogue.json describes its arrays.

const INT16 = 2 ** 15 - 64; // the largest rounded weights and sums, as in leaf.py
const INT32 = 2 ** 31 - 2 ** 20;
const SQUARES = 6; // squares of a side of the largest board

/** Return the numbers that the net reads; as in `rule_sets.simplified`, fields without an effect have their defaults. */
function inputsOf(rules, { presets, default: usual, any_rules: { inputs } }) {
  const seedsStay = rules.mandarin_ahead === "stop",
    mirrored = rules.sowing === "clockwise" ? { ...rules, sowing: "counterclockwise" } : rules,
    without = new Set();
  if (!rules.stones) without.add("quan_non");
  if (seedsStay && rules.quan_non <= rules.mandarin_seeds) without.add("quan_non");
  if (seedsStay && !rules.mandarin_seeds_capturable && (rules.mandarin_seeds || rules.quan_non))
    without.add("empty_mandarin");
  if (rules.end === "squares_empty") without.add("mandarin_leftovers");
  return Object.entries(inputs).flatMap(([name, unit]) => {
    const { [name]: value } = without.has(name) ? presets[usual] : mirrored;
    if (Array.isArray(unit)) return unit.map((choice) => Number(choice === value));
    return name === "stone_value" && !rules.stones ? 0 : value / unit;
  });
}

/** Return the number of a float16, given its bits. */
function half(bits) {
  const exponent = (bits >> 10) & 31,
    digits = (bits & 1023) / 1024,
    value = exponent ? (1 + digits) * 2 ** (exponent - 15) : digits * 2 ** -14;
  return bits >> 15 ? -value : value;
}

function readArrays(bytes, shapes) {
  const halves = new Uint16Array(bytes),
    arrays = {};
  let begin = 0;
  for (const [name, shape] of Object.entries(shapes)) {
    const end = begin + shape.reduce((product, length) => product * length, 1);
    arrays[name] = Float64Array.from(halves.subarray(begin, end), half);
    begin = end;
  }
  if (begin !== halves.length) throw new RangeError(`the net for any rules has ${halves.length} numbers, not ${begin}`);
  return arrays;
}

/** Return the outputs of a layer with `weight` (inputs x outputs). */
const layer = (inputs, weight, bias) =>
  bias.map((sum, unit) =>
    inputs.reduce((total, input, place) => total + input * weight[place * bias.length + unit], sum),
  );

/** Return the greatest power of two whose product with `largest` is at most `limit`. */
const scaleOf = (largest, limit) => 2 ** Math.floor(Math.log2(limit / Math.max(largest, 1e-9)));
const largestOf = (numbers) => numbers.reduce((largest, number) => Math.max(largest, Math.abs(number)), 0);

/**
 * Fold the net in the bytes of net-any.bin for rules for two players with refill=borrow. Return the bytes of a net for
 * `Engine.net`.
 */
export function fold(bytes, rules, catalogue) {
  const { shapes, places, rows } = catalogue.any_rules,
    net = readArrays(bytes, shapes),
    [allRows, hidden] = shapes.embedding,
    second = shapes.hidden_bias[0],
    [fieldRows, mandarinRows] = [rows[0], 2 * rows[1]];
  // what the rules change
  const context = layer(inputsOf(rules, catalogue), net.context_weight, net.context_bias).map((x) => Math.max(x, 0)),
    changes = layer(context, net.change_weight, net.change_bias);
  let begin = 0;
  const [factor, offset, secondFactor, secondOffset, [last]] = [hidden, hidden, second, second, 1].map((length) =>
    changes.subarray(begin, (begin += length)),
  );
  // the first layer, and a bound of its sums, which have one row of each square
  const embedding = new Float64Array(allRows * hidden),
    bound = new Float64Array(hidden),
    turned = rules.sowing === "clockwise" ? 1 : 0,
    fields = turned ? [...places[rules.fields]].reverse() : places[rules.fields],
    table = (side, place) => side * (allRows / 2) + place * fieldRows;
  for (const side of [0, 1]) {
    const squares = fields.map((from, to) => [table(side, from), table(side, to), fieldRows]);
    squares.push([table(side ^ turned, SQUARES - 1), table(side, SQUARES - 1), mandarinRows]);
    for (const [from, to, count] of squares)
      for (let unit = 0; unit < hidden; unit += 1) {
        let largest = 0;
        for (let row = 0; row < count; row += 1) {
          const sum = net.embedding[(from + row) * hidden + unit] * (1 + factor[unit]) + (to ? 0 : offset[unit]);
          embedding[(to + row) * hidden + unit] = sum;
          largest = Math.max(largest, Math.abs(sum));
        }
        bound[unit] += largest;
      }
  }
  const firstScale = scaleOf(largestOf(bound), INT16);
  // the second layer, whose weights lie in pairs of units of the first
  const weight = net.hidden_weight.map((one, place) => one * (1 + secondFactor[place % second])),
    sums = layer(bound, weight.map(Math.abs), new Float64Array(second)),
    secondScale = Math.min(scaleOf(largestOf(weight), INT16), scaleOf(firstScale * largestOf(sums), INT32)),
    product = firstScale * secondScale;
  const rounded = new Int16Array(embedding.length + weight.length);
  embedding.forEach((sum, place) => {
    rounded[place] = Math.round(sum * firstScale);
  });
  weight.forEach((one, place) => {
    const [unit, output] = [Math.floor(place / second), place % second];
    rounded[embedding.length + 2 * second * (unit >> 1) + 2 * output + (unit & 1)] = Math.round(one * secondScale);
  });
  const floats = Float32Array.of(
    ...net.hidden_bias.map((one, unit) => (one * (1 + secondFactor[unit]) + secondOffset[unit]) * product),
    ...net.output_weight.map((one) => one / product),
    net.output_bias[0] + last,
  );
  const content = new Uint8Array(rounded.byteLength + floats.byteLength);
  content.set(new Uint8Array(rounded.buffer));
  content.set(new Uint8Array(floats.buffer), rounded.byteLength);
  return content;
}
