/** Characters that URL parsers drop or change: control characters anywhere, white space at the ends. Programs would read such an address differently. */
export const hasStrayCharacters = (text: string) => /\p{Cc}|^\s|\s$/u.test(text)

/** An absolute http or https address that every program reads in the same way. */
export const isWebAddress = (text: string) => /^https?:/i.test(text) && !hasStrayCharacters(text) && URL.canParse(text)
