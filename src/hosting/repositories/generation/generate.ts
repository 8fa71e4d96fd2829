import { publish } from '#activity/publish.ts'
import { copyTrees } from '#git/copy-trees.ts'
import { within } from '#git/run-git.ts'
import type { Storage } from '#git/storage.ts'
import { copyObjects } from '#hosting/lfs/objects.ts'
import { adoptRefs } from '#hosting/pushes/pushes.ts'
import type { Account, Viewer } from '#identity/accounts.ts'
import { type Database, sql, type Transaction } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'
import { enqueue, Waiting } from '#platform/queue.ts'
import { authorOf } from '../contents.ts'
import { mayCopy } from '../crossing.ts'
import { createRepository, loadRepositoryById, lockRepository, type NewRepository, type Repository } from '../repositories.ts'

export interface Generation {
  from_id: number
  to_id: number
  creator_id: number
  author: { name: string; email: string }
  all_branches: boolean
}

/** Creates a repository with the files of a template. A job copies them. */
export async function generateRepository(
  db: Transaction,
  viewer: Viewer,
  template: Repository,
  creator: Account,
  owner: Account,
  { all_branches, ...wanted }: NewRepository & { all_branches: boolean },
): Promise<Repository> {
  const { id } = await createRepository(db, viewer, owner, wanted)
  // It may have become private, or hidden from the caller, since the caller named it.
  const source = await lockRepository(db, viewer, template.id)
  checkTemplate(source, wanted.private ?? false)
  await db.query(sql`
    update repositories set template_id = ${source.id}, default_branch = ${source.default_branch}, language = ${source.language},
      license = ${source.license} where id = ${id}`)
  await copyObjects(db, source.id, id)
  const repo = await loadRepositoryById(db, { ...viewer, sees_private: true }, id)
  const facts = { master_branch: repo.default_branch, description: repo.description, in_bulk: false }
  await publish(db, creator, repo, { act: 'repo.created', ref: null, ref_type: 'repository', ...facts })
  const generation: Generation = {
    from_id: source.id,
    to_id: id,
    creator_id: creator.id,
    author: authorOf(creator),
    all_branches,
  }
  await enqueue(db, 'generate_repository', generation)
  return repo
}

function checkTemplate(source: Repository, hides: boolean) {
  const refused = (field: string, message: string) => invalid({ resource: 'Repository', code: 'custom', field, message })
  if (!source.is_template) throw refused('is_template', `${source.owner_login}/${source.name} is not a template repository.`)
  if (source.private && !hides) throw refused('private', 'A repository from a private template must be private.')
}

const patience = 3_600_000

/**
 * Access is checked now and before the files become visible, like for a fork. If nothing may be copied, or the template is gone, the
 * repository is empty.
 */
export async function copyTemplate(db: Database, storage: Storage, generation: Generation) {
  const { from_id, to_id, creator_id, author, all_branches } = generation
  const find = (id: number) =>
    db.first<{ default_branch: string; description: string | null }>(sql`
      select default_branch, description from repositories where id = ${id}`)
  const target = await find(to_id)
  if (!target) return
  if (!storage.has(from_id) && (await find(from_id))) throw new Waiting(`repository ${from_id} has no contents yet`)
  const may = () => mayCopy(db, from_id, to_id, [creator_id])
  const refs = storage.has(from_id) ? await storage.refsOf(from_id) : new Map<string, string>()
  const main = `refs/heads/${target.default_branch}`
  const branches = new Map([...refs].filter(([name]) => (all_branches ? name.startsWith('refs/heads/') : name === main)))
  if (!branches.size || !(await may())) return storage.create(to_id, target.default_branch)
  const commit = { author: { ...author, date: db.now }, message: 'Initial commit' }
  await within(patience, (signal) =>
    storage.fill(
      to_id,
      target.default_branch,
      (path) => copyTrees(storage.pathOf(from_id), path, branches, commit, signal),
      async (made) => {
        if (!(await may())) throw new Error(`repository ${from_id} may not be copied into ${to_id} any more`)
        await db.transaction((transaction) => record(transaction, to_id, { id: creator_id }, target, made))
      },
    ),
  )
  await db.query(sql`update repositories set size = ${await storage.sizeOf(to_id)} where id = ${to_id}`)
}

async function record(
  db: Transaction,
  id: number,
  creator: { id: number },
  { default_branch, description }: { default_branch: string; description: string | null },
  refs: Map<string, string>,
) {
  const known = await db.query(sql`select from refs where repo_id = ${id} limit 1`)
  await adoptRefs(db, id, refs)
  // An interrupted attempt has published it.
  if (known.rowCount || !refs.has(`refs/heads/${default_branch}`)) return
  const facts = { master_branch: default_branch, description, in_bulk: false }
  await publish(db, creator, { id }, { act: 'branch.created', ref: default_branch, ref_type: 'branch', ...facts })
}
