import type { Storage } from '#hosting/git/storage.ts'
import { type Database, sql } from '#platform/database.ts'
import type { Task } from '#platform/queue.ts'

/** What follows from acts on repositories, on disk. Each may run twice and changes nothing the second time. */
export function repositoryTasks(db: Database, storage: Storage): Record<string, Task> {
  return {
    copy_repository: async ({ from_id, to_id, branch }: { from_id: number; to_id: number; branch: string | null }) => {
      const fork = await db.first<{ default_branch: string }>(sql`select default_branch from repositories where id = ${to_id}`)
      if (fork) await storage.copy(from_id, to_id, fork.default_branch, branch)
    },
    erase_repository: ({ repo_id }: { repo_id: number }) => storage.erase(repo_id),
  }
}
