import { cpSync, type Dirent, lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Milliseconds: copies of times are less exact than times, and a seed is older than what tests write. */
const exactness = 1

/** Puts back a folder that was copied from `seeded` with its times: removes what is new, and copies again what was written or removed. */
export function putBackFiles(seeded: string, folder: string) {
  const present = new Map(entriesOf(folder).map((entry) => [entry.name, entry]))
  for (const wanted of entriesOf(seeded)) {
    const [from, to] = [join(seeded, wanted.name), join(folder, wanted.name)]
    const found = present.get(wanted.name)
    present.delete(wanted.name)
    if (found?.isDirectory() && wanted.isDirectory()) putBackFiles(from, to)
    else if (!found || !isSame(from, to)) {
      rmSync(to, { recursive: true, force: true })
      cpSync(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
    }
  }
  for (const name of present.keys()) rmSync(join(folder, name), { recursive: true, force: true })
}

const entriesOf = (folder: string): Dirent[] => readdirSync(folder, { withFileTypes: true })

function isSame(one: string, other: string) {
  const [a, b] = [lstatSync(one), lstatSync(other)]
  return a.mode === b.mode && a.size === b.size && Math.abs(a.mtimeMs - b.mtimeMs) < exactness
}
