  !load %states = %s ${Shared.STATES}
  !load %table = %s ${Shared.TABLE}
  !load %slots = %s ${Shared.SLOTS} i64
  !load %mask = %s ${Shared.MASK} i64
  !load %credit = %s ${Shared.CREDIT}
  !load %base = %s ${Shared.NEW_BASE} i64
