import type { Author, Notes } from '#importer/source.ts'
import type { Change, Revision } from '#importer/staging/arrange/revisions.ts'
import { type FastImport, validPerson } from '#importer/staging/fast-import.ts'
import { decodeText } from './decode-text.ts'
import type { DumpRecord, Properties } from './dump.ts'

const noAuthor = '(no author)'

export function describeAuthor(login: string, uuid: string): Author {
  return { remote_id: `${login}@${uuid}`, remote_name: login, ...validPerson(login, `${login}@${uuid}`) }
}

/** Begins the commit of a revision. The first commit of a run must name its parent. */
export async function beginCommit(git: FastImport, { number, name, email, time }: Revision, before: number) {
  await git.write(`commit refs/import/raw\nmark :${number}\ncommitter ${name} <${email}> ${time} +0000\ndata 0\n\n`)
  if (before > 0) await git.write(`from :${before}\n`)
}

/** Reads the metadata of a revision. Without a date, it gets the time of the revision before it. */
export function readRevision({ headers, properties }: DumpRecord, former: number, authorOf: (login: string) => Author): Revision {
  const word = (name: string) => {
    const value = properties?.get(name)
    return value ? decodeText(value) : ''
  }
  const { name, email } = authorOf(word('svn:author').trim() || noAuthor)
  const date = Date.parse(word('svn:date'))
  const time = Number.isNaN(date) ? former : Math.max(Math.floor(date / 1000), 0)
  const number = Number(headers.get('Revision-number'))
  return { number, name, email, time, message: word('svn:log'), changes: [], files: {} }
}

/** Records the facts that arranging needs. */
export function recordChange(revision: Revision, { headers, properties }: DumpRecord, notes: Notes) {
  const path = headers.get('Node-path') ?? ''
  const action = headers.get('Node-action') as Change['action']
  if (properties?.get('svn:externals')) notes['external definitions'] = (notes['external definitions'] ?? 0) + 1
  if (headers.get('Node-kind') === 'file' && action !== 'delete') {
    const folder = path.slice(0, Math.max(path.lastIndexOf('/'), 0))
    revision.files[folder] = (revision.files[folder] ?? 0) + 1
    return
  }
  const from = headers.get('Node-copyfrom-path')
  const mergeinfo = mergeinfoOf(properties)
  revision.changes.push({
    action,
    path,
    ...(from !== undefined && { from: { number: Number(headers.get('Node-copyfrom-rev')), path: from } }),
    ...(mergeinfo !== undefined && { mergeinfo }),
  })
}

function mergeinfoOf(properties: Properties | undefined) {
  const value = properties?.get('svn:mergeinfo')
  return value === undefined ? undefined : (value?.toString() ?? '')
}
