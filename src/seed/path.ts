/** Where in a seed: `['repositories', 2, 'issues', 0, 'author']`. */
export type Path = (string | number)[]

/** What is wrong with a seed, and where. */
export interface Fault {
  path: Path
  message: string
}

/** `repositories[2].issues[0].author` */
export const spell = (path: Path) => path.map(spellKey).join('').replace(/^\./, '') || 'seed'

const spellKey = (key: string | number) =>
  typeof key === 'number' ? `[${key}]` : /^\w+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
