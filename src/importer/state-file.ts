import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export const stateFile = (folder: string, name: string) => join(folder, `${name}.json`)

/** Saves a value for a later step or run. A process that is killed leaves either the former value or the new one. */
export async function saveState<T>(folder: string, name: string, value: T) {
  const path = stateFile(folder, name)
  await writeFile(`${path}.new`, JSON.stringify(value))
  await rename(`${path}.new`, path)
}

/** Undefined if nothing was saved. */
export async function readState<T>(folder: string, name: string): Promise<T | undefined> {
  const text = await readFile(stateFile(folder, name), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : JSON.parse(text)
}
