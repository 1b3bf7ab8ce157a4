/**
 * Characters that cannot be seen but change how others are: zero-width, bidirectional and other format characters
 * (Unicode category Cf), line and paragraph separators, variation selectors and tags. U+200D joins emoji and letters of
 * some scripts; a name that needs it is rarer than one that abuses it.
 */
export const INVISIBLE =
  /\p{Cf}|\p{Zl}|\p{Zp}|[\u115f\u1160\u3164\uffa0]|\u034f|[\ufe00-\ufe0e]|[\u{e0100}-\u{e01ef}]/gu
