import type { Storage } from '#hosting/git/storage.ts'
import { adoptRefs } from '#hosting/pushes/pushes.ts'
import { type Database, sql } from '#platform/database.ts'
import type { Task } from '#platform/queue.ts'

interface Row {
  id: number
  network_id: number
  parent_id: number | null
  default_branch: string
}

/** What follows from acts on repositories, on disk. Each may run twice and changes nothing the second time. */
export function repositoryTasks(db: Database, storage: Storage): Record<string, Task> {
  const find = (id: number) =>
    db.first<Row>(sql`select id, network_id, parent_id, default_branch from repositories where id = ${id}`)

  return {
    /** What is to be copied may be a fork that waits for its own contents, or be deleted by now: then its ancestors have them. */
    copy_repository: async ({ from_id, to_id, branch }: { from_id: number; to_id: number; branch: string | null }) => {
      const fork = await find(to_id)
      if (!fork) return
      if (!storage.has(from_id) && (await find(from_id))) throw new Error(`repository ${from_id} has no contents yet`)
      const source = [from_id, fork.parent_id, fork.network_id].find((id) => id !== null && storage.has(id))
      await storage.copy(source ?? from_id, to_id, fork.default_branch, branch, (refs) =>
        db.transaction((transaction) => adoptRefs(transaction, to_id, refs)),
      )
    },
    /** Waits until every fork has its contents: they may be coming from here. */
    erase_repository: async ({ repo_id, network_id }: { repo_id: number; network_id: number }) => {
      const relatives = await db.rows<{ id: number }>(sql`select id from repositories where network_id = ${network_id}`)
      const waiting = relatives.find(({ id }) => !storage.has(id))
      if (waiting) throw new Error(`repository ${waiting.id}, of the same network, has no contents yet`)
      await storage.erase(repo_id)
    },
    point_head: async ({ repo_id }: { repo_id: number }) => {
      const repo = await find(repo_id)
      if (repo) await storage.pointHead(repo_id, repo.default_branch)
    },
  }
}
