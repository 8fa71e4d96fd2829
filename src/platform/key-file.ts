import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncFolderNow, writeSynced } from './durable.ts'
import { StartError } from './errors.ts'

/** The keys of a server: a file in the data folder that only we can read. */
export interface Keys {
  /** Encrypts. */
  current: Buffer
  /** The key that a rotation is about to make the current one: all nodes must know it before. */
  next: Buffer | null
  /** Decrypts what a rotation has not encrypted anew yet. */
  former: Buffer | null
  /** For secrets that are derived and not stored. It outlives a rotation, because feed readers hold such secrets. */
  deriving: Buffer
}

export const newKey = () => randomBytes(32)

/** A first line with the current key, as ever; a rotation adds lines with a word before the key. */
export function readKeys(path: string): Keys {
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  const parsed = lines.map((line) => /^(?:(next|former|derive) )?([0-9a-f]{64})$/.exec(line.trim()))
  const keyOf = (kind: string | undefined) => {
    const [, , hex] = parsed.find((match) => match?.[1] === kind) ?? []
    return hex ? Buffer.from(hex, 'hex') : null
  }
  const current = keyOf(undefined)
  if (!current || parsed.includes(null))
    throw new StartError(`${path} is damaged: restore it from a backup; what it encrypts is lost without it.`)
  return { current, next: keyOf('next'), former: keyOf('former'), deriving: keyOf('derive') ?? current }
}

/** The file is replaced as a whole. */
export function writeKeys(path: string, keys: Keys) {
  const draft = `${path}.${process.pid}`
  writeSynced(draft, textOf(keys), 0o600)
  renameSync(draft, path)
  syncFolderNow(dirname(path))
}

/** A link, because two nodes that start on one folder at the same time must read the same key. */
export function makeKeys(path: string) {
  const draft = `${path}.${process.pid}`
  const current = newKey()
  writeSynced(draft, textOf({ current, next: null, former: null, deriving: current }), 0o600)
  try {
    linkSync(draft, path)
  } catch {
    // The other node created it first.
  } finally {
    rmSync(draft)
    syncFolderNow(dirname(path))
  }
}

function textOf({ current, next, former, deriving }: Keys) {
  const named = { next, former, derive: deriving.equals(current) ? null : deriving }
  const more = Object.entries(named).flatMap(([name, key]) => (key ? [`${name} ${key.toString('hex')}`] : []))
  return `${[current.toString('hex'), ...more].join('\n')}\n`
}

/** Changes when the file is replaced. */
export function versionOf(path: string) {
  const found = statSync(path, { throwIfNoEntry: false })
  return found && `${found.ino} ${found.mtimeMs} ${found.size}`
}
