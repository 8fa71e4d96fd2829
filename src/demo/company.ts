import { markAllRead } from '#parts/notifications/mark-read.ts'
import { comment, fork, giveStar, openPull, watch } from '#seed/acting.ts'
import { append } from '#seed/stage.ts'
import { type Scene, scene } from './scenes.ts'

const stars: [days: number, by: string, repo: string][] = [
  [362, 'ada', 'clockwork/tower'],
  [357, 'dmitri', 'clockwork/tower'],
  [349, 'ben', 'clockwork/tower'],
  [341, 'esme', 'clockwork/tower'],
  [333, 'kofi', 'clockwork/tower'],
  [318, 'greta', 'clockwork/tower'],
  [290, 'hana', 'clockwork/tower'],
  [213, 'farid', 'clockwork/tower'],
  [212, 'ivo', 'clockwork/tower'],
  [211, 'juno', 'clockwork/tower'],
  [116, 'lena', 'clockwork/tower'],
  [305, 'ada', 'clockwork/measurements'],
  [240, 'juno', 'clockwork/measurements'],
  [155, 'lena', 'clockwork/measurements'],
  [230, 'ben', 'ada/notebook'],
  [92, 'lena', 'ada/notebook'],
  [201, 'greta', 'cleo/journal'],
  [143, 'esme', 'cleo/journal'],
  [101, 'lena', 'cleo/journal'],
  [55, 'juno', 'ben/drift'],
  [34, 'greta', 'clockwork/ringer'],
  [29, 'esme', 'clockwork/ringer'],
  [13, 'dmitri', 'clockwork/escapement'],
  [6, 'lena', 'clockwork/escapement'],
]

/** Days on which somebody reads the whole inbox. Ada's last time was two weeks ago, so hers is full. */
const clearings: [login: string, days: number[]][] = [
  ['ada', [300, 240, 180, 120, 60, 15]],
  ['ben', [200, 90, 12]],
  ['cleo', [250, 130, 40, 6]],
  ['dmitri', [100]],
]

/** Stars, watchers, forks and inboxes, and what happened today. */
export const companyScenes: Scene[] = [
  ...stars.map(([days, by, repo]) => scene(days, 20, (stage) => giveStar(stage, by, repo))),
  ...clearings.flatMap(([login, all]) =>
    all.map((days) =>
      scene(days, 22, (stage) =>
        stage.transaction((db) => markAllRead(db, stage.account(login), { last_read_at: stage.clock.now() })),
      ),
    ),
  ),
  scene(356, 9, (stage) => watch(stage, 'ada', 'clockwork/tower')),
  scene(325, 9, (stage) => watch(stage, 'ada', 'clockwork/escapement')),
  scene(324, 9, (stage) => watch(stage, 'ben', 'clockwork/tower')),
  scene(210, 9, (stage) => watch(stage, 'greta', 'clockwork/ringer')),
  scene(126, 9, (stage) => watch(stage, 'dmitri', 'ada/engine')),
  scene(115, 18, (stage) => fork(stage, 'lena', 'clockwork/tower')),
  scene(0, 20, (stage) =>
    openPull(stage, 'juno', 'clockwork/ringer', 'early-fix', {
      title: 'Ask the time every minute',
      body: 'Fixes {early}. I measured it for a week: it is never more than a tenth of a second off. @hana @ada',
      branch: 'every-minute',
      from: 'juno/ringer',
      commits: [{ message: 'Ask the time every minute', files: { 'README.md': append('\nThe time is asked every minute.\n') } }],
    }),
  ),
  scene(0, 9, (stage) => comment(stage, 'kofi', 'clockwork/tower', 'third-rope', 'The rope is here. @ada, Saturday at ten?')),
  scene(0, 5, (stage) =>
    stage.push('cleo', 'clockwork/ledger', [
      {
        message: 'Pay for flax rope',
        files: { 'ledger.csv': append(`${stage.clock.now().toISOString().slice(0, 10)},flax rope,48\n`) },
      },
    ]),
  ),
  scene(0, 2, (stage) =>
    comment(stage, 'farid', 'clockwork/escapement', 'compensation', '@ada, the mercury came today. May I pour it?'),
  ),
]
