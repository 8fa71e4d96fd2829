import { testAnswers } from '#test/openapi-answers.ts'

for (const variant of ['self-hosted', 'versioned'] as const) testAnswers(variant, [false, false, true, true])
