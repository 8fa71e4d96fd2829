import { merge, withCommits } from '#git/merge.ts'
import type { Storage } from '#git/storage.ts'
import { mayPush } from '#hosting/issues/rights.ts'
import { pushRefs } from '#hosting/pushes/pushes.ts'
import { authorOf } from '#hosting/repositories/contents.ts'
import { mayCopy } from '#hosting/repositories/crossing.ts'
import { loadRepositoryById, type Repository } from '#hosting/repositories/repositories.ts'
import { checkWritable } from '#identity/access.ts'
import type { Account, Viewer } from '#identity/accounts.ts'
import type { Database } from '#platform/database.ts'
import { forbidden, Refusal } from '#platform/errors.ts'
import { branchTip } from './mergeability.ts'
import { loadPull, type Pull } from './pulls.ts'

const refused = (message: string) => new Refusal('invalid', message)

/** Merges new commits of the base into the head branch of a pull request. */
export async function updateBranch(
  db: Database,
  storage: Storage,
  viewer: Viewer,
  repo: Repository,
  editor: Account,
  number: number,
  expected: string | undefined,
): Promise<Pull> {
  const pull = await loadPull(db, repo, number)
  const head = await findHead(db, viewer, repo, pull)
  const [tip, base] = await Promise.all([branchTip(storage, head.id, pull.head_ref), branchTip(storage, repo.id, pull.base_ref)])
  if (pull.state === 'closed' || !tip || !base) throw refused('The pull request is closed, or one of its branches is gone.')
  if (expected !== undefined && expected !== tip) throw refused('expected_head_sha is not the head of the pull request.')
  if (!(await mayCopy(db, repo.id, head.id, [pull.author?.id ?? null, editor.id], viewer))) {
    throw refused('The base is private: its commits may only go into a private head, and you and the author need access to both.')
  }
  const sha = await withCommits(storage, repo.id, head.id, base, async () => {
    const who = authorOf(editor)
    const message = `Merge branch '${pull.base_ref}' into ${pull.head_ref}\n`
    const asked = { base: tip, head: base, method: 'merge', author: who, committer: who, at: db.now, message } as const
    const merged = await merge(storage, head.id, asked)
    if ('nothing' in merged) throw refused('There are no new commits on the base branch.')
    if ('conflict' in merged) throw refused('merge conflict between base and head')
    return merged.sha
  })
  await pushRefs(db, storage, head, editor, [{ ref: `refs/heads/${pull.head_ref}`, before: tip, after: sha }])
  return pull
}

/** Needs push access to the head; with `maintainer_can_modify`, push access to the base is enough. */
async function findHead(db: Database, viewer: Viewer, repo: Repository, pull: Pull): Promise<Repository> {
  const head = pull.head_repo_id === repo.id ? repo : await loadVisible(db, viewer, pull.head_repo_id)
  if (!mayPush(head) && !(mayPush(repo) && pull.maintainer_can_modify))
    throw forbidden('Must have push access to the head branch.')
  checkWritable(head)
  return head
}

/** A head that is gone and one that the caller cannot see give the same answer. */
async function loadVisible(db: Database, viewer: Viewer, id: number | null): Promise<Repository> {
  const gone = () => refused('The head repository is gone.')
  if (id === null) throw gone()
  return loadRepositoryById(db, viewer, id).catch((error) => {
    throw error instanceof Refusal ? gone() : error
  })
}
