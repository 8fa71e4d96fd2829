import type { Storage } from '#git/storage.ts'
import { adoptRefs } from '#hosting/pushes/pushes.ts'
import { isDeleted, repeated, unlessDeleted } from '#identity/deletion.ts'
import { type Database, sql } from '#platform/database.ts'
import { type Task, Waiting } from '#platform/queue.ts'
import { mayCopy } from './crossing.ts'
import { copyTemplate, type Generation } from './generation/generate.ts'
import { deleteRepository } from './update.ts'

interface Row {
  id: number
  owner_id: number
  network_id: number
  parent_id: number | null
  default_branch: string
}

export interface Copy {
  from_id: number
  to_id: number
  branch: string | null
  /** Jobs of older versions do not say who forked: then it is the owner of the fork. */
  forker_id?: number
}

/** What follows from acts on repositories, on disk. Each may run twice and changes nothing the second time. */
export function repositoryTasks(db: Database, storage: Storage): Record<string, Task> {
  const find = (id: number) =>
    db.first<Row>(sql`select id, owner_id, network_id, parent_id, default_branch from repositories where id = ${id}`)

  /** A deleted repository may still be copied if it was public. */
  const wasPublic = async (id: number) =>
    (await db.query(sql`select from deleted_repositories where repo_id = ${id} and not private`)).rowCount === 1

  /** Makes the folder of a repository. If the repository is deleted meanwhile, the job that erases it may have run before the folder existed. */
  const make = async (repo_id: number, work: () => Promise<void>) => {
    const records = { repo_ids: [repo_id] }
    await unlessDeleted(db, records, () => repeated(work))
    if (await isDeleted(db, records)) await storage.erase(repo_id)
  }

  /**
   * The source may be a fork that waits for its own contents, or be deleted by now: then its ancestors have the contents. Access is
   * checked now, not when the fork was requested; if nothing may be copied, the fork is empty.
   */
  const copy = async ({ from_id, to_id, branch, forker_id }: Copy) => {
    const fork = await find(to_id)
    if (!fork) return
    if (!storage.has(from_id) && (await find(from_id))) throw new Waiting(`repository ${from_id} has no contents yet`)
    const may = async (id: number) => (await mayCopy(db, id, to_id, [forker_id ?? fork.owner_id])) || wasPublic(id)
    for (const id of [from_id, fork.parent_id, fork.network_id]) {
      if (id === null || !storage.has(id) || !(await may(id))) continue
      return storage.copy(id, to_id, fork.default_branch, branch, async (refs) => {
        // Checked again, because commits that were pushed during the copy may be private.
        if (!(await may(id))) throw new Error(`repository ${id} may not be copied into ${to_id} any more`)
        await db.transaction((transaction) => adoptRefs(transaction, to_id, refs))
      })
    }
    await storage.create(to_id, fork.default_branch)
  }

  return {
    copy_repository: (wanted: Copy) => make(wanted.to_id, () => copy(wanted)),
    generate_repository: (wanted: Generation) => make(wanted.to_id, () => copyTemplate(db, storage, wanted)),
    /** Waits until every fork has its contents: they may be coming from here. */
    erase_repository: async ({ repo_id, network_id }: { repo_id: number; network_id: number }) => {
      const relatives = await db.rows<{ id: number }>(sql`select id from repositories where network_id = ${network_id}`)
      const waiting = relatives.find(({ id }) => !storage.has(id))
      if (waiting) throw new Waiting(`repository ${waiting.id}, of the same network, has no contents yet`)
      await storage.erase(repo_id)
      await db.query(sql`delete from deleted_repositories where repo_id = ${repo_id}`)
    },
    /** Deletes a private fork whose parent was deleted. */
    delete_orphaned_fork: ({ repo_id, deleter }: { repo_id: number; deleter: { id: number } }) =>
      db.transaction(async (transaction) => {
        const orphan = await transaction.first<{ id: number; network_id: number }>(sql`
          select id, network_id from repositories where id = ${repo_id} and forked_from_private and parent_id is null`)
        if (orphan) await deleteRepository(transaction, deleter, orphan)
      }),
    point_head: async ({ repo_id }: { repo_id: number }) => {
      const repo = await find(repo_id)
      if (repo) await unlessDeleted(db, { repo_ids: [repo_id] }, () => storage.pointHead(repo_id, repo.default_branch))
    },
  }
}
