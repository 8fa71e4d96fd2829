import { link, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { stageSettings } from '#git/fsync.ts'
import { runGit } from '#git/run-git.ts'

/**
 * Makes a stage small that is kept for a later run. Its packs are written for speed and have every text in full; the published packs have
 * most of the same objects compressed, so they are linked into the stage, and git takes the objects from the newest pack that has them.
 */
export async function compactStage(repository: string, targets: string[], signal: AbortSignal) {
  const to = join(repository, 'objects', 'pack')
  const there = new Set(await readdir(to))
  for (const from of targets.map((target) => join(target, 'objects', 'pack'))) {
    const packs = (await readdir(from).catch(() => [])).filter((name) => /^pack-[0-9a-f]{40}\.(pack|idx)$/.test(name))
    for (const name of packs.sort().reverse()) {
      if (!there.has(name)) await link(join(from, name), join(to, name))
      there.add(name)
    }
  }
  // Unreachable objects stay, because marks may name them. No new deltas are searched.
  const repack = [...stageSettings, 'repack', '-a', '-d', '-k', '-q', '--window=0', '--no-write-bitmap-index']
  await runGit(repository, repack, { signal, detached: false })
}
