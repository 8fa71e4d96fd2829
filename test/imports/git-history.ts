import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { git } from '#git/git.ts'
import { ImportFailure } from '#importer/source.ts'
import type { GitServer } from './git-server.ts'

/** A history with branches, tags of both kinds, several authors, and internal refs of a host. */
export async function makeEngine(server: GitServer) {
  const engine = await server.make('engine')
  const { work, bare } = engine
  await work.commit('Begin')
  await work.git('-c', 'user.name=Zoë', 'commit', '--quiet', '--allow-empty', '--author', 'Zoë Ä <zoe@example.com>', '-m', 'More')
  await work.git('tag', 'light')
  await work.git('checkout', '--quiet', '-b', 'topic/deep')
  await work.commit('Topic', { 'a folder/ä.bin': randomBytes(400_000) })
  await work.git('-c', 'user.name=Tagger', '-c', 'user.email=t@example.com', 'tag', '-a', 'v1.0', '-m', 'First')
  await work.push('main', 'topic/deep', '--tags')
  for (const hidden of ['refs/pull/1/head', 'refs/notes/commits', 'refs/keep-around/x', 'refs/changes/01/1/1'])
    await bare('update-ref', hidden, 'main')
  await bare('symbolic-ref', 'HEAD', 'refs/heads/topic/deep')
  return engine
}

/** Branches and tags of a repository, whatever their prefix. */
export const refsOf = async (repository: string, prefix: string) =>
  (await git(['-C', repository, 'for-each-ref', '--format=%(objectname) %(refname)', `${prefix}heads`, `${prefix}tags`]))
    .replaceAll(prefix, 'refs/')
    .split('\n')

/** For assert.rejects. */
export const failing =
  (words: RegExp, kind = 'error') =>
  (error: unknown) => {
    assert.ok(error instanceof ImportFailure, String(error))
    assert.match(error.message, words)
    assert.equal(error.kind, kind)
    return true
  }
