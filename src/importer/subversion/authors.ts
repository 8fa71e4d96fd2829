import type { Author, Origin, Workspace } from '#importer/source.ts'
import { validPerson } from '#importer/staging/fast-import.ts'
import { trimBoth } from '#platform/trim.ts'
import { connectTo } from './connection.ts'
import { addressOf, openRepositoryReader } from './projects.ts'
import { tryOpenSession } from './ra-svn.ts'
import { findElements, findInside } from './xml.ts'

/** The author of a revision that has none, as in git-svn. */
export const noAuthor = '(no author)'

export function describeAuthor(login: string, uuid: string): Author {
  return { remote_id: `${login}@${uuid}`, remote_name: login, ...validPerson(login, `${login}@${uuid}`) }
}

/** From the log of the project's folder, without messages and paths. */
export async function listAuthors(origin: Origin, workspace: Workspace): Promise<Author[]> {
  const connection = await connectTo(origin, workspace, workspace.folder)
  using session = await tryOpenSession(connection.url, origin, workspace)
  const repository = await openRepositoryReader(connection, session).describe()
  const found = connection.file ? connection.file.logins : new Set<string>()
  if (!connection.file) {
    const path = origin.svn_root === null ? repository.path : trimBoth(origin.svn_root, '/')
    const wanted = ['--with-revprop', 'svn:author', '--revision', `1:${repository.head}`]
    const log = await connection.svn(['log', '--xml', ...wanted], `${addressOf(repository, path)}@${repository.head}`)
    for (const entry of findElements(log, 'logentry')) found.add(findInside(entry, 'author')?.text.trim() || noAuthor)
  }
  return [...found].map((login) => describeAuthor(login, repository.uuid))
}
