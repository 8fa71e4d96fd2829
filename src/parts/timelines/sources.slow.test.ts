import { testSources } from '#test/activity/sources.ts'

testSources({
  'many quiet repositories': { repositories: 60, events: 150, skew: 1, gone: { newest: 0, others: 0.1 } },
  'a few busy repositories among many': { repositories: 60, events: 1500, skew: 5, gone: { newest: 0.1, others: 0.1 } },
  'one busy repository': { repositories: 40, events: 900, skew: 12, gone: { newest: 0, others: 0.3 } },
  'one busy repository with hidden events among many quiet ones': {
    repositories: 190,
    events: 400,
    skew: 40,
    gone: { newest: 0.6, others: 0.1 },
  },
  'many hidden events in front of visible ones': { repositories: 30, events: 1500, skew: 2, gone: { newest: 1, others: 0.5 } },
  'hidden events only': { repositories: 30, events: 800, skew: 2, gone: { newest: 1, others: 1 } },
  'more sources than are read one by one': { repositories: 230, events: 1200, skew: 2, gone: { newest: 0.5, others: 0.1 } },
})
