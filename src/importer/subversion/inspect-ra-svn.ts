import { ImportFailure, type Network, type Origin } from '#importer/source.ts'
import { traitsIn } from './gitattributes.ts'
import { listsIn } from './gitignore.ts'
import type { Folder, Inspector, Listed, MadeFiles } from './inspector.ts'
import type { Repository } from './projects.ts'
import { AccessDenied, type RaSession, text, tryOpenSession } from './ra-svn.ts'
import { type Item, isWord, NoRepository } from './ra-svn-items.ts'

/** Over svn://. Undefined if the server requires an unsupported authentication. */
export async function inspectByRaSvn(
  origin: Origin,
  { root }: Repository,
  network: Network,
  made: MadeFiles,
): Promise<Inspector | undefined> {
  const session = await tryOpenSession(root, origin, network)
  return (
    session && {
      list: (path, number, isKnown) => list(session, path, number, isKnown, made),
      [Symbol.asyncDispose]: async () => session[Symbol.dispose](),
    }
  )
}

async function list(
  session: RaSession,
  path: string,
  number: number,
  isKnown: (name: string, changed: number) => boolean,
  { ignores = false, attributes = false }: MadeFiles,
): Promise<Folder> {
  const fields = '( kind created-rev )'
  const question = `${text(path)} ( ${number} ) ${ignores} true ${fields}`
  const [, properties, entries] = await asking(session.ask('get-dir', question))
  const listed: Listed[] = []
  const asked: Promise<void>[] = []
  for (const entry of Array.isArray(entries) ? entries : []) {
    const [name, kind, , , changed] = Array.isArray(entry) ? entry : []
    if (typeof name !== 'string') throw new NoRepository()
    const one: Listed = {
      name,
      folder: isWord(kind, 'dir'),
      changed: Number(changed),
      md5: '',
      executable: false,
      special: false,
      traits: {},
    }
    listed.push(one)
    // Pipelined: all requests are sent before the first answer.
    if (isWord(kind, 'file') && (!isKnown(name, one.changed) || attributes)) asked.push(inspectFile(session, path, number, one))
  }
  await Promise.all(asked)
  return { entries: listed, lists: listsIn(readerOf(properties)) }
}

async function inspectFile(session: RaSession, folder: string, number: number, file: Listed) {
  const path = folder === '' ? file.name : `${folder}/${file.name}`
  const [checksum, , properties] = await asking(session.ask('get-file', `${text(path)} ( ${number} ) true false`))
  const [md5] = Array.isArray(checksum) ? checksum : []
  file.traits = traitsIn(readerOf(properties))
  const names = (Array.isArray(properties) ? properties : []).map(nameOf)
  file.md5 = typeof md5 === 'string' ? md5 : ''
  file.executable = names.includes('svn:executable')
  file.special = names.includes('svn:special')
}

function readerOf(properties: Item | undefined) {
  const values = new Map((Array.isArray(properties) ? properties : []).map((property) => [nameOf(property), property]))
  return (name: string) => textOf(values.get(name))
}

function nameOf(property: Item) {
  return Array.isArray(property) ? property[0] : undefined
}

function textOf(property: Item | undefined) {
  const value = Array.isArray(property) ? property[1] : undefined
  return typeof value === 'string' ? value : undefined
}

async function asking(answer: Promise<Item[]>): Promise<Item[]> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof AccessDenied) throw new ImportFailure('The Subversion server no longer accepts the credentials.', 'auth')
    if (error instanceof NoRepository) throw new ImportFailure(`The Subversion server cannot list its files: ${error.message}`)
    throw error
  }
}
