import { sql } from '#platform/database.ts'
import { Octokit } from '#test/octokit.ts'
import { expect, type Forge, type Person } from './forge.ts'
import { until } from './machine.ts'

export async function openIssue(author: Person, repo: string, fields: Record<string, unknown> = {}): Promise<number> {
  return (await expect(201, await author.post(`${repo}/issues`, { title: 'It rattles', ...fields }))).number
}

/** The inbox of a user as lines, newest first. */
export async function inboxOf(person: Person, query = '', repo = ''): Promise<string[]> {
  const threads: { subject: { title: string }; reason: string; unread: boolean }[] = await person.read(
    `${repo}/notifications${query}`,
  )
  return threads.map(({ subject, reason, unread }) => `${subject.title}: ${reason}${unread ? '' : ', read'}`)
}

/** Waits until the fan-out of all events and all jobs have finished. */
export const told = ({ belfry: { db } }: Pick<Forge, 'belfry'>) =>
  until('the fan-out has finished', async () => {
    const row = await db.first<{ waiting: boolean }>(sql`
      select exists (select from notification_events where notified_at is null)
        or exists (select from graphile_worker.jobs where run_at <= now() and attempts < max_attempts) as waiting`)
    return !row?.waiting
  })

/** Inserts many threads of commits directly; the last one is the newest. */
export async function fillInbox(
  { belfry: { db } }: Pick<Forge, 'belfry'>,
  { login }: Person,
  repo: { id: number },
  count: number,
) {
  await db.transaction((transaction) =>
    transaction.query(sql`
      with made as (
        insert into notification_subjects (repo_id, type, commit_id, title)
        select ${repo.id}, 'Commit', md5(n::text), n from generate_series(1, ${count}::integer) n returning id, title::integer as n
      )
      insert into threads (user_id, repo_id, subject_id, reason, updated_at, position, notice_ids, reasons)
      select a.id, ${repo.id}, made.id, 'subscribed', ${transaction.now}::timestamptz - (${count} - n) * interval '1 second',
        log_position(), '{}', '{}'
      from made, accounts a where a.login = ${login}`),
  )
}

/** Octokit clients of a user for the self-hosted and the versioned variant. */
export const octokitsOf = ({ web, versioned }: Pick<Forge, 'web' | 'versioned'>, { token: auth }: Person) =>
  [new Octokit({ auth, baseUrl: `${web}/api/v3` }), new Octokit({ auth, baseUrl: versioned })] as const
