import { git } from '#git/git.ts'
import { noObject } from '#git/objects.ts'
import { type Brought, describeTogether } from '#hosting/pushes/commits.ts'
import { recordMoves } from '#hosting/pushes/recording.ts'
import { sql } from '#platform/database.ts'
import type { Commit, Stage } from '#seed/stage.ts'
import { type Scene, scene, timeOf } from './scenes.ts'

/** A push to a repository that only grows, such as a journal. */
export interface DiaryPush {
  days: number
  hour: number
  by: string
  commits: Commit[]
}

const ref = 'refs/heads/main'

/** The moves of a diary's branch, read from git together. */
interface Written {
  moves: { before: string; after: string; brought: Brought }[]
  /** In kilobytes. */
  size: number
}

/**
 * Scenes of a repository without other branches. Its commits are written and read at once, at its first scene: a push of its own for each of
 * hundreds of commits, with some git processes each, would take two thirds of the time of the whole story. Each scene then records one.
 */
export function diaryScenes(
  full_name: string,
  creator: string,
  wanted: { description: string; topics: string[] },
  pushes: DiaryPush[],
): Scene[] {
  const ordered = pushes.toSorted((one, other) => other.days - one.days || one.hour - other.hour)
  let written: Written | undefined
  const begin = async (stage: Stage) => {
    await stage.createRepository(creator, full_name, wanted)
    written = await writeAll(stage, creator, full_name, ordered)
  }
  const record = (by: string, index: number) => async (stage: Stage) => {
    if (written) await recordPush(stage, by, full_name, written, index)
  }
  const first = ordered[0]?.days ?? 0
  return [scene(first + 1, 7, begin), ...ordered.map(({ days, hour, by }, index) => scene(days, hour, record(by, index)))]
}

async function writeAll(stage: Stage, creator: string, full_name: string, pushes: DiaryPush[]): Promise<Written> {
  const { storage } = stage
  const { repo } = await stage.as(creator, full_name)
  const branch = stage.branch(full_name, 'main')
  const drafts = pushes.flatMap((push) => {
    const at = timeOf(push, stage.end)
    return push.commits.map((commit) => stage.written(branch, push.by, commit, at))
  })
  const { size } = await storage.commit(repo.id, 'main', drafts)
  const path = storage.pathOf(repo.id)
  const listed = (await git(['-C', path, 'rev-list', '--reverse', ref])).trim().split('\n')
  const lengths = pushes.map(({ commits }) => commits.length)
  const ends = lengths.map((_, index) => listed[lengths.slice(0, index + 1).reduce((sum, each) => sum + each, 0) - 1] ?? noObject)
  const commands = ends.map((after, index) => ({ ref, before: ends[index - 1] ?? noObject, after }))
  const brought = await describeTogether(path, commands, [])
  const none: Brought = { size: 0, distinct_size: 0, commits: [] }
  return { size, moves: commands.map(({ before, after }, index) => ({ before, after, brought: brought[index] ?? none })) }
}

/** The push begins and ends in one transaction, so that nobody finds it open and compares it with the branch on disk. */
async function recordPush(stage: Stage, by: string, full_name: string, { moves, size }: Written, index: number) {
  const [{ actor, repo }, move] = [await stage.as(by, full_name), moves[index]]
  if (!move) return
  const { brought, ...ends } = move
  const command = { ref, ...ends }
  await stage.transaction(async (db) => {
    const { id, version } = await db.load<{ id: number; version: string }>(sql`
      insert into pushes (repo_id, pusher_id, commands, started_at) values (${repo.id}, ${actor.id}, ${JSON.stringify([command])}::jsonb, ${db.now})
      returning id, xmin::text as version`)
    const known = await db.first<{ sha: string; version: string }>(sql`
      select sha, xmin::text as version from refs where repo_id = ${repo.id} and name = ${ref}`)
    const push = { id, pusher_id: actor.id, commands: [command], over: true, version, server: null }
    await recordMoves(db, repo.id, {
      known: {
        names: [ref],
        refs: new Map(known && [[ref, known.sha]]),
        versions: new Map(known && [[ref, known.version]]),
      },
      ...{ pushes: [push], moves: [{ ...command, push, command, brought }], heads: [], size },
    })
  })
}
