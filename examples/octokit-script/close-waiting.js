import { fileURLToPath } from 'node:url'
import { Octokit } from '@octokit/rest'

const day = 86_400_000

/** Closes issues that wait for an answer of their author, and on which nothing happened for so many days. Returns their numbers. */
export async function closeWaiting(octokit, { owner, repo, days = 30, now = new Date() }) {
  const issues = await octokit.paginate(octokit.issues.listForRepo, { owner, repo, labels: 'waiting', per_page: 100 })
  const idle = issues.filter(({ updated_at }) => now - new Date(updated_at) > days * day)
  for (const { number: issue_number } of idle) {
    const body = `Nothing happened here for ${days} days, so I close this. Comment to open it again.`
    await octokit.issues.createComment({ owner, repo, issue_number, body })
    await octokit.issues.update({ owner, repo, issue_number, state: 'closed', state_reason: 'not_planned' })
  }
  return idle.map(({ number }) => number)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [owner, repo] = (process.env.REPOSITORY ?? '').split('/')
  const octokit = new Octokit({ auth: process.env.TOKEN, baseUrl: process.env.API_URL })
  console.log(`Closed: ${(await closeWaiting(octokit, { owner, repo })).join(', ') || 'none'}`)
}
