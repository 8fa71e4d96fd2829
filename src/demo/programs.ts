import { addCollaborator } from '#hosting/collaborators/collaborators.ts'
import { invite } from '#hosting/organization-invitations/invitations.ts'
import { levelOf } from '#identity/access.ts'
import { install } from '#parts/apps/installations/installations.ts'
import { registerApp } from '#parts/apps/manifest.ts'
import { createApplication } from '#parts/oauth/applications.ts'
import { issueToken, recordGrant } from '#parts/oauth/grants.ts'
import { hookDepsOf } from '#parts/webhooks/create.ts'
import type { Stage } from '#seed/stage.ts'
import { type Scene, scene } from './scenes.ts'

const template = 'clockwork/instrument-template'

/** Programs that act for people, a template, and invitations that are not answered yet. */
export const programScenes: Scene[] = [
  scene(140, 11, registerBoard),
  scene(74, 10, installWatch),
  scene(52, 15, async (stage) => {
    const description = 'How every instrument of the works begins'
    await stage.createRepository('cleo', template, { description, is_template: true, topics: ['template'] })
    const files = {
      'README.md': '# Name of the instrument\n\nWhat it measures, and how often.\n',
      'readings.csv': 'day,reading\n',
    }
    await stage.push('cleo', template, [{ message: 'Begin with a readme and a table', files }])
  }),
  scene(1, 16, async (stage) => {
    const { actor, repo } = await stage.as('ben', 'ben/drift')
    for (const login of ['ada', 'cleo']) {
      await stage.transaction((db) => addCollaborator(db, repo, actor, stage.account(login), levelOf('push')))
    }
  }),
  scene(1, 17, (stage) => {
    const wanted = { invitee_id: stage.account('dmitri').id, role: 'member' as const, team_ids: [] }
    return stage.transaction((db) => invite(db, stage.account('cleo'), stage.account('clockwork'), wanted))
  }),
]

/** An OAuth application of Ada's, which she and two others have authorized. */
async function registerBoard(stage: Stage) {
  const url = 'https://board.bellwater.example'
  const description = 'Shows on a screen in the market square what happened to the clock.'
  await stage.transaction(async (db) => {
    const wanted = { name: 'Market board', url, description, callback_url: `${url}/signed-in` }
    const board = await createApplication(db, stage.account('ada'), stage.account('ada'), wanted)
    for (const login of ['ada', 'ben', 'cleo']) {
      const user = stage.account(login)
      const { scopes } = await recordGrant(db, board, user, ['public_repo'])
      await issueToken(db, board, { user_id: user.id, scopes })
    }
  })
}

/** An app of the organization, installed on all its repositories. */
async function installWatch(stage: Stage) {
  const [cleo, clockwork] = [stage.account('cleo'), stage.account('clockwork')]
  const wanted = {
    name: 'Tower watch',
    url: 'https://watch.bellwater.example',
    description: 'Reminds people of issues that they have forgotten.',
    permissions: { issues: 'write', contents: 'read' },
  }
  const { app } = await registerApp(stage.db, cleo, clockwork, wanted, hookDepsOf(stage.belfry))
  await stage.transaction((db) => install(db, cleo, app, clockwork, null))
}
