/** Messages of the YAML parser, and what to say instead, because it speaks to those who know the grammar of YAML. */
const explained: [said: RegExp, meaning: string][] = [
  [/^Source contains multiple documents/, 'a seed is one document. Remove the line "---"'],
  [/^Map keys must be unique/, 'this key is there twice in the same map. Join them'],
  [/^Tabs are not allowed as indentation/, 'indentation must be spaces, not tabs'],
  [/^Implicit (keys need to be on a single line|map keys need to be followed)/, 'a key is followed by a colon: "login: ada"'],
  [
    /^Nested mappings are not allowed in compact/,
    'a text with a colon and a space must be in quotes, or the indentation is wrong',
  ],
  [/^Plain value cannot start with reserved character (.)/, 'a text that begins with $1 must be in quotes'],
  [
    /^(Sequence item without - indicator|All \w+ items must start at the same column)/,
    'the indentation differs from the lines above',
  ],
  [/^Missing closing (.)quote/, 'a text begins with $1 further up and does not end with it'],
  [/^Flow (map|sequence) .*must end with a (.)/, 'the $2 that belongs to a bracket further up is missing'],
]

/** In other words, if there are better ones. */
export function explainYaml(message: string): string {
  const [known] = explained.filter(([said]) => said.test(message))
  return known ? (message.match(known[0])?.[0].replace(...known) ?? message) : message
}

/** `*name` refers to `&name`. A newcomer who begins a text with `*` does not mean that. */
export function explainAlias(message: string, text: string, name: string): string {
  const [, alias] = /^Unresolved alias [^:]*: (.+)$/.exec(message) ?? []
  if (!alias) return `${name}: ${message}`
  const line = text.slice(0, text.indexOf(`*${alias}`)).split('\n').length
  return `${name}:${line}: "*${alias}" refers to "&${alias}", which is not further up. A text that begins with * must be in quotes`
}
