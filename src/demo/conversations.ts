import { createComment } from '#hosting/issues/comments/update.ts'
import { createIssue } from '#hosting/issues/update.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Account } from '#identity/accounts.ts'
import type { Database } from '#platform/database.ts'

interface Conversation {
  repo: string
  by: string
  title: string
  body: string
  labels?: string[]
  assignees?: string[]
  comments: [author: string, body: string][]
}

const conversations: Conversation[] = [
  {
    repo: 'engine',
    by: 'ben',
    title: 'The mill turns backwards',
    body: 'When I turn the crank to the left, the mill turns left too. @ada, is that intended?\n\n- [x] seen on Monday\n- [ ] seen again',
    comments: [
      ['ada', 'It is **not**. The pawl should hold it, see `mill.md`.'],
      ['dmitri', 'I like it: my fork does that on purpose. @ben'],
    ],
  },
  {
    repo: 'tower',
    by: 'cleo',
    title: 'Who rings at noon?',
    body: 'The sixth bell hangs, but it never rings. @clockwork/ringers, please take turns.',
    comments: [['ada', 'I take noon. Can you take midnight?']],
  },
  {
    repo: 'tower',
    by: 'ada',
    title: 'Strike the quarters too',
    body: 'Six bells are enough for a chime every 15 minutes.',
    comments: [['cleo', 'Agreed, after the ropes are replaced.']],
  },
  {
    repo: 'tower',
    by: 'cleo',
    title: 'Replace the rope of the third bell',
    body: 'It has two broken strands. Do not ring it until this is done.',
    labels: ['urgent', 'maintenance'],
    assignees: ['ada'],
    comments: [],
  },
  {
    repo: 'ledger',
    by: 'cleo',
    title: 'Rope costs twice as much as last year',
    body: '@ada, did we order the right length?',
    labels: ['question'],
    comments: [],
  },
  {
    repo: 'engine',
    by: 'cleo',
    title: 'Describe the store',
    body: 'The notes describe the mill, but not where the numbers are kept.',
    comments: [],
  },
]

/** Opens issues with comments, which fill the inboxes. */
export async function addConversations(db: Database, accounts: Record<string, Account>, repositories: Repository[]) {
  for (const { repo: name, by, comments, ...issue } of conversations) {
    const [repo, author] = [repositories.find((each) => each.name === name), accounts[by]]
    if (!repo || !author) continue
    const { number } = await db.transaction((transaction) => createIssue(transaction, repo, author, issue))
    for (const [login, text] of comments) {
      const commenter = accounts[login]
      if (commenter) await db.transaction((transaction) => createComment(transaction, repo, commenter, number, text))
    }
  }
}
