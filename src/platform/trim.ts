/** Removes these characters from the end. `/\/+$/` is quadratic: it tries each position of a run of slashes again. */
export function trimTrailing(text: string, characters: string) {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** Removes these characters from both ends. */
export function trimBoth(text: string, characters: string) {
  let start = 0
  while (start < text.length && characters.includes(text.charAt(start))) start++
  return trimTrailing(text.slice(start), characters)
}
