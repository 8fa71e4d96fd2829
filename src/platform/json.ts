/** Recursion over a body of 5,000 levels overflows the stack, and indentation makes its text a thousand times as long. */
export const deepestJson = 100

/** Parses JSON that is not ours. Throws a SyntaxError also if it is nested too deeply. */
export function parseJson(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError(`The JSON is nested deeper than ${deepestJson} levels.`)
  return JSON.parse(text)
}

/** Reads each character once. In a text that is not JSON, the answer does not matter. */
export function isTooDeep(text: string): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === quote) at = endOfString(text, at)
    else if ((character === bracket || character === brace) && ++depth > deepestJson) return true
    else if (character === bracket + 2 || character === brace + 2) depth--
  }
  return false
}

const [quote, bracket, brace] = [0x22, 0x5b, 0x7b]

/** The index of the closing quote. `indexOf` makes long texts, such as files in base64, fast. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end
}

function isEscaped(text: string, at: number) {
  let before = at
  while (text[before - 1] === '\\') before--
  return (at - before) % 2 === 1
}
