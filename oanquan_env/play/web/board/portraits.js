// The portraits of the levels: drawings centred at (0, 0) that extend 17 units in each direction.

const eyes = '<circle cx="-6" cy="-1" r="2"/><circle cx="6" cy="-1" r="2"/>',
  smile = '<path d="M-6 6Q0 12 6 6" fill="none" stroke="#33291d" stroke-width="2" stroke-linecap="round"/>';
const face = (behind, before, mouth = smile) =>
  `<g stroke="#b5a68e" stroke-width="1.2">${behind}</g>` +
  `<circle r="15" fill="#f3c995"/><g fill="#33291d">${eyes}${mouth}${before}</g>`;
// a money box
const pig =
  '<g fill="#c8503a" stroke="#fff" stroke-width=".8">' +
  '<path d="M4 19V16L2 15V12L4 11L5 8L8 10Q16 9 16 14L15 19H12V17H8V19Z"/></g>' +
  '<path d="M9 12.3H13" stroke="#fff" stroke-width="1.2"/><circle cx="6" cy="13" r=".8" fill="#33291d"/>';

export const PORTRAITS = {
  beginner: face(
    '<g fill="#33291d"><circle cx="-12" cy="-11" r="5"/><circle cx="12" cy="-11" r="5"/></g>',
    '<path d="M-14-5Q0-22 14-5Q0-12-14-5"/>',
  ),
  easy: face("", '<path d="M-5-12Q-4-20 5-18Q1-15 5-12Z"/>', '<path d="M-7 4H7Q5 12 0 12T-7 4" fill="#a8321f"/>'),
  medium:
    face(
      '<path d="M-17 12V-2A17 17 0 0 1 17-2V12Z" fill="#33291d"/>',
      '<path d="M-15-1Q-13-15 0-15T15-1Q4-4 0-11Q-4-4-15-1"/>',
    ) + pig,
  hard: face(
    "",
    '<path d="M-15-2Q-14-17 0-17T15-2Q8-10-15-2"/>' +
      '<g fill="none" stroke="#1f6a58" stroke-width="1.6">' +
      '<circle cx="-6" cy="-1" r="4.6"/><circle cx="6" cy="-1" r="4.6"/></g>',
    '<path d="M-5 8H5" stroke="#33291d" stroke-width="2"/>',
  ),
  perfect: face(
    "",
    '<path d="M-15-5Q-15-18 0-18T15-5Q0-11-15-5" fill="#2a4a7b"/>' +
      '<path d="M-8 5Q0 2 8 5Q5 17 0 20Q-5 17-8 5" fill="#fff" stroke="#b5a68e"/>',
    "",
  ),
};
