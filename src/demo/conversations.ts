import { createIssue } from '#hosting/issues/changes.ts'
import { createComment } from '#hosting/issues/comments/changes.ts'
import type { Account } from '#hosting/people/people.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Database } from '#platform/database.ts'

interface Conversation {
  repo: string
  by: string
  title: string
  body: string
  comments: [author: string, body: string][]
}

const conversations: Conversation[] = [
  {
    repo: 'engine',
    by: 'ben',
    title: 'The mill turns backwards',
    body: 'When the crank is turned to the left, so does the mill. @ada, is that meant to be?\n\n- [x] seen on Monday\n- [ ] seen again',
    comments: [
      ['ada', 'It is **not**. The pawl should hold it, see `mill.md`.'],
      ['dmitri', 'I rather like it: my fork does that on purpose. @ben'],
    ],
  },
  {
    repo: 'tower',
    by: 'cleo',
    title: 'Who rings at noon?',
    body: 'The sixth bell hangs, and nobody rings it. @clockwork/ringers, please take turns.',
    comments: [['ada', 'I take noon, if somebody takes midnight.']],
  },
]

/** People talk, so that there is something in everybody's inbox. */
export async function holdConversations(db: Database, accounts: Record<string, Account>, repositories: Repository[]) {
  for (const { repo: name, by, title, body, comments } of conversations) {
    const [repo, author] = [repositories.find((each) => each.name === name), accounts[by]]
    if (!repo || !author) continue
    const { number } = await db.transaction((transaction) => createIssue(transaction, repo, author, { title, body }))
    for (const [login, text] of comments) {
      const commenter = accounts[login]
      if (commenter) await db.transaction((transaction) => createComment(transaction, repo, commenter, number, text))
    }
  }
}
