import { publish } from '#activity/publish.ts'
import { lockRepository, type Repository } from '#hosting/repositories/repositories.ts'
import type { Account, Viewer } from '#identity/accounts.ts'
import { sql, type Transaction } from '#platform/database.ts'
import { invalid } from '#platform/errors.ts'

const mostTopics = 20

/** Topics are stored in lower case, in the order in which they are sent. */
export async function replaceTopics(
  db: Transaction,
  viewer: Viewer,
  editor: Account,
  repo: Repository,
  names: string[],
): Promise<string[]> {
  const topics = [...new Set(names.map((name) => name.trim().toLowerCase()))]
  checkTopics(topics)
  const { topics: from } = await lockRepository(db, viewer, repo.id)
  if (JSON.stringify(from) === JSON.stringify(topics)) return topics
  await db.query(sql`update repositories set topics = ${topics}, updated_at = ${db.now} where id = ${repo.id}`)
  await publish(db, editor, repo, { act: 'repo.edited', changes: { topics: { from } } })
  return topics
}

function checkTopics(topics: string[]) {
  const wrong = topics.find((topic) => !/^[a-z0-9][a-z0-9-]{0,49}$/.test(topic))
  const message =
    wrong !== undefined
      ? `'${wrong.slice(0, 60)}' is no topic: a topic has up to 50 letters, digits and hyphens, and begins with a letter or digit`
      : topics.length > mostTopics
        ? `a repository has at most ${mostTopics} topics`
        : undefined
  if (message) throw invalid({ resource: 'Repository', code: 'invalid', field: 'names', message })
}
