import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Test files that load a module cannot run, because the machine lacks Debian packages. The runner names them. */
export class Lacking extends Error {
  readonly packages: string[]

  constructor(packages: string[]) {
    super(`On Debian: apt-get install ${packages.join(' ')}`)
    this.packages = packages
  }
}

/** A module that starts programs of other projects names them when it is loaded, with the Debian package of each. */
export function needs(programs: Record<string, string>) {
  const missing = missingPackages(programs)
  if (missing.length) throw new Lacking(missing)
}

/** The packages of programs and files that are not there. */
export const missingPackages = (programs: Record<string, string>) => [
  ...new Set(Object.entries(programs).flatMap(([name, debian]) => (isThere(name) ? [] : [debian]))),
]

const isThere = (name: string) =>
  [name, ...(process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name))].some((path) => existsSync(path))
