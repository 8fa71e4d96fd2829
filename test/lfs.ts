import { createHash } from 'node:crypto'
import { needs } from '#test/needs.ts'
import { join } from './conversations.ts'
import { type Forge, openForge } from './forge.ts'
import type { Worktree } from './git.ts'

needs({ 'git-lfs': 'git-lfs' })

export const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')
export const media = 'application/vnd.git-lfs+json'

/** One repository that anybody reads and one that Cy may read, both of Ada's, and Eve who has no part in them. */
export async function openPlaces() {
  const forge = await openForge()
  const [ada, cy, eve] = [await forge.person('ada'), await forge.person('cy'), await forge.person('eve')]
  await ada.owns('open', { auto_init: true })
  await ada.owns('closed', { auto_init: true, private: true })
  for (const repo of ['open', 'closed']) await join(ada, cy, 'pull', `/repos/ada/${repo}`)
  return Object.assign(forge, { ada, cy, eve })
}

/** A request of LFS as its client makes them. */
export async function ask(
  forge: Forge,
  token: string | null,
  place: string,
  method = 'GET',
  body?: object | string | Buffer,
  more = {},
) {
  const answer = await fetch(`${forge.web}/${place}`, {
    method,
    headers: { accept: media, ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...more },
    body:
      body === undefined
        ? null
        : typeof body === 'string' || Buffer.isBuffer(body)
          ? new Uint8Array(Buffer.from(body))
          : JSON.stringify(body),
    redirect: 'manual',
  })
  const bytes = Buffer.from(await answer.arrayBuffer())
  return { status: answer.status, headers: answer.headers, bytes, text: bytes.toString() }
}

export const batch = (forge: Forge, token: string | null, repo: string, operation: string, objects: object[], more = {}) =>
  ask(forge, token, `${repo}.git/info/lfs/objects/batch`, 'POST', { operation, objects, ...more })

export const put = (forge: Forge, token: string | null, repo: string, contents: Buffer | string, oid = sha256(contents)) =>
  ask(forge, token, `${repo}.git/info/lfs/objects/${oid}`, 'PUT', contents)

export const get = (forge: Forge, token: string | null, repo: string, oid: string, more = {}) =>
  ask(forge, token, `${repo}.git/info/lfs/objects/${oid}`, 'GET', undefined, more)

/** The filters of Git LFS, as `git lfs install` sets them. */
export const filters = ['clean -- %f', 'smudge -- %f', 'filter-process'].map((command, index) => [
  `filter.lfs.${['clean', 'smudge', 'process'][index]}`,
  `git-lfs ${command}`,
])

/** Large files go by LFS in this clone, as `git lfs install` has it. */
export async function useLfs(work: Worktree) {
  for (const [name = '', value = ''] of filters) await work.git('config', name, value)
  await work.git('lfs', 'install', '--local')
}
