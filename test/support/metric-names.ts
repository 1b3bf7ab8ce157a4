export const OWN_NAMESPACE = 'ContainerFilePromotion'

/** What the functions emit; alarms and dashboard may name nothing else. */
export const SERVICE_METRICS = [
  ...['Promotions', 'Replays', 'Refusals', 'Failures', 'QuotaNearlyFull', 'RateLimiterUnavailable', 'PromotedBytes'],
  ...[
    'PromotionTime',
    'AuthenticateTime',
    'LookUpTime',
    'ReserveTime',
    'CopyTime',
    'RecordTime',
    'SettleTime',
    'UndoTime',
  ],
  ...['ReservationsResolved', 'ReservationsUnresolved', 'OldestReservation', 'AuditFindings', 'AuditsIncomplete'],
]
