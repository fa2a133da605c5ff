{{- define "anywarp.name" -}}
{{- printf "%s-anywarp-webhook" .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "anywarp.selector" -}}
app.kubernetes.io/name: anywarp-webhook
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "anywarp.labels" -}}
{{ include "anywarp.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end -}}

{{- define "anywarp.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{ printf "%s@%s" $image.repository $image.digest | quote }}
{{- else -}}
{{ printf "%s:%s" $image.repository (default .Chart.AppVersion $image.tag) | quote }}
{{- end -}}
{{- end -}}

{{- define "anywarp.secret" -}}
{{- if eq .Values.certificate.from "existing" -}}
{{ required "certificate.secretName is needed with certificate.from: existing" .Values.certificate.secretName }}
{{- else -}}
{{ include "anywarp.name" . }}-tls
{{- end -}}
{{- end -}}

{{- define "anywarp.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "anywarp.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}
