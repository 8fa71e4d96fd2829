import { ImportFailure, type Means, type Origin } from '../source.ts'
import type { Inspector, Listed } from './inspecting.ts'
import type { Repository } from './surveying.ts'
import { type Item, isWord, NothingThere, type Talk, talkTo, text, Unwelcome } from './wire.ts'

/** By svn://; undefined where the server wants to be spoken to in a way that we do not know. */
export async function inspectByWire(origin: Origin, { root }: Repository, { signal }: Means): Promise<Inspector | undefined> {
  try {
    const talk = await talkTo(Number(new URL(root).port), root, origin, signal)
    return {
      list: (path, number, isKnown) => list(talk, path, number, isKnown),
      [Symbol.asyncDispose]: async () => talk[Symbol.dispose](),
    }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Unwelcome || error instanceof NothingThere) return
    throw error
  }
}

async function list(talk: Talk, path: string, number: number, isKnown: (name: string, changed: number) => boolean) {
  const fields = '( kind created-rev )'
  const [, , entries] = await asking(talk.ask('get-dir', `${text(path)} ( ${number} ) false true ${fields}`))
  const listed: Promise<Listed>[] = []
  for (const entry of Array.isArray(entries) ? entries : []) {
    const [name, kind, , , changed] = Array.isArray(entry) ? entry : []
    if (typeof name !== 'string') throw new NothingThere()
    const plain = {
      name,
      folder: isWord(kind, 'dir'),
      changed: Number(changed),
      md5: '',
      executable: false,
      special: false,
    }
    // All are asked at once, and answered one after the other.
    const asks = isWord(kind, 'file') && !isKnown(plain.name, plain.changed)
    listed.push(asks ? inspectFile(talk, path, number, plain) : Promise.resolve(plain))
  }
  return Promise.all(listed)
}

async function inspectFile(talk: Talk, folder: string, number: number, plain: Listed): Promise<Listed> {
  const path = folder === '' ? plain.name : `${folder}/${plain.name}`
  const [checksum, , properties] = await asking(talk.ask('get-file', `${text(path)} ( ${number} ) true false`))
  const [md5] = Array.isArray(checksum) ? checksum : []
  const names = new Set((Array.isArray(properties) ? properties : []).map(nameOf))
  return {
    ...plain,
    md5: typeof md5 === 'string' ? md5 : '',
    executable: names.has('svn:executable'),
    special: names.has('svn:special'),
  }
}

function nameOf(property: Item) {
  return Array.isArray(property) ? property[0] : undefined
}

async function asking(answer: Promise<Item[]>): Promise<Item[]> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Unwelcome) throw new ImportFailure('The Subversion server does not let us read this any more.', 'auth')
    if (error instanceof NothingThere) throw new ImportFailure(`The Subversion server cannot tell what it has: ${error.message}`)
    throw error
  }
}
