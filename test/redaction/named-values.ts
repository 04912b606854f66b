/** Values that names, places or sentences give away, a line each: a vendor or carrier, then a template (template.ts). `¶` is a line end. */

export const VARIABLES_AND_HEADERS = `
aws AWS_SECRET_ACCESS_KEY=«[b64:40]»
aws AWS_SECRET_ACCESS_KEY=«/[b64:39]»
aws AWS_SESSION_TOKEN=«[b64:200]»
aws-sigv4 Authorization: AWS4-HMAC-SHA256 Credential=AKIA[B32:16]/20260101/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature=«[hex:64]»
azure AZURE_CLIENT_SECRET=«[an:40]»
azure AZURE_DEVOPS_EXT_PAT=«[lo:52]»
azure AZURE_OPENAI_API_KEY=«[hex:32]»
azure-functions x-functions-key: «[url:54]==»
azure-apim Ocp-Apim-Subscription-Key: «[hex:32]»
azure-openai api-key: «[hex:32]»
cloudflare X-Auth-Key: «[hex:37]»
cloudflare X-Auth-User-Service-Key: v1.0-«[hex:120]»
cloudflare CLOUDFLARE_API_TOKEN=«[url:40]»
cloudflare CF_API_KEY=«[hex:37]»
heroku HEROKU_API_KEY=«[uuid]»
datadog DD_API_KEY=«[hex:32]»
datadog DD_APP_KEY=«[hex:40]»
datadog DD-APPLICATION-KEY: «[hex:40]»
npm //registry.npmjs.org/:_authToken=«[uuid]»
npm //npm.acme.test/:_auth=«[b64:40]»
npm //npm.acme.test/:_password=«[b64:24]»
algolia ALGOLIA_ADMIN_KEY=«[hex:32]»
algolia X-Algolia-API-Key: «[hex:32]»
postmark X-Postmark-Server-Token: «[uuid]»
postmark POSTMARK_SERVER_TOKEN=«[uuid]»
splunk Authorization: Splunk «[uuid]»
elastic Authorization: ApiKey «[b64:60]»
elastic Authorization: ApiKey «/[b64:59]=»
google GEMINI_API_KEY=AQ.«[url:50]»
google GOOGLE_CLIENT_SECRET=«[url:24]»
openai OPENAI_API_KEY=«[an:48]»
mistral MISTRAL_API_KEY=«[an:32]»
cohere CO_API_KEY=«[an:40]»
deepgram DEEPGRAM_API_KEY=«[hex:40]»
deepl DEEPL_AUTH_KEY=«[uuid]:fx»
assemblyai ASSEMBLYAI_API_KEY=«[hex:32]»
exa EXA_API_KEY=«[uuid]»
fal FAL_KEY=«[uuid]:[hex:32]»
together TOGETHER_API_KEY=«[hex:64]»
ai21 AI21_API_KEY=«[an:32]»
zhipu ZHIPUAI_API_KEY=«[hex:32].[an:16]»
moonshot MOONSHOT_API_KEY=«[an:48]»
dashscope DASHSCOPE_API_KEY=«[hex:32]»
serper SERPER_API_KEY=«[hex:40]»
brave X-Subscription-Token: «[url:31]»
kagi Authorization: Bot «[url:22].[url:43]»
wandb WANDB_API_KEY=«[hex:40]»
comet COMET_API_KEY=«[an:25]»
weaviate WEAVIATE_API_KEY=«[an:36]»
qdrant QDRANT_API_KEY=«[url:54]»
upstash UPSTASH_REDIS_REST_TOKEN=«[b64:52]=»
supabase SUPABASE_SERVICE_ROLE_KEY=«[an:60]»
firebase FIREBASE_TOKEN=«[url:60]»
vercel VERCEL_TOKEN=«[an:24]»
netlify NETLIFY_AUTH_TOKEN=«[url:43]»
railway RAILWAY_TOKEN=«[uuid]»
render RENDER_DEPLOY_KEY=«[an:24]»
gitlab PRIVATE-TOKEN: «[an:20]»
gitlab CI_JOB_TOKEN=«[url:26]»
github GITHUB_TOKEN=«[hex:40]»
bitbucket BITBUCKET_APP_PASSWORD=«[an:20]»
jenkins JENKINS_API_TOKEN=«[hex:34]»
circleci Circle-Token: «[hex:40]»
travis TRAVIS_TOKEN=«[url:22]»
codecov CODECOV_TOKEN=«[uuid]»
coveralls COVERALLS_REPO_TOKEN=«[an:33]»
sonarqube SONAR_TOKEN=«[hex:40]»
snyk SNYK_TOKEN=«[uuid]»
sentry SENTRY_AUTH_TOKEN=«[hex:64]»
rollbar ROLLBAR_ACCESS_TOKEN=«[hex:32]»
bugsnag BUGSNAG_API_KEY=«[hex:32]»
honeycomb X-Honeycomb-Team: «[an:22]»
logdna LOGDNA_INGESTION_KEY=«[hex:32]»
loggly LOGGLY_TOKEN=«[uuid]»
pagerduty Authorization: Token token=«[url:20]»
opsgenie Authorization: GenieKey «[uuid]»
statuspage Authorization: OAuth «[uuid]»
okta Authorization: SSWS «00[url:40]»
auth0 AUTH0_CLIENT_SECRET=«[url:64]»
twilio TWILIO_AUTH_TOKEN=«[hex:32]»
vonage VONAGE_API_SECRET=«[an:16]»
messagebird MESSAGEBIRD_ACCESS_KEY=«[an:25]»
mailjet MJ_APIKEY_PRIVATE=«[hex:32]»
sparkpost SPARKPOST_API_KEY=«[hex:40]»
pusher PUSHER_APP_SECRET=«[hex:20]»
ably ABLY_API_KEY=«[an:6].[an:6]:[url:43]»
stream STREAM_API_SECRET=«[lo:64]»
trello TRELLO_API_TOKEN=«[hex:64]»
jira JIRA_API_TOKEN=«[an:24]»
zendesk ZENDESK_API_TOKEN=«[an:40]»
freshdesk FRESHDESK_API_KEY=«[an:20]»
monday MONDAY_TOKEN=«[jwt]»
coinbase COINBASE_API_SECRET=«[an:32]»
binance X-MBX-APIKEY: «[an:64]»
binance BINANCE_SECRET_KEY=«[an:64]»
kucoin KC-API-PASSPHRASE: «[an:12]»
etherscan ETHERSCAN_API_KEY=«[UP:34]»
infura INFURA_PROJECT_SECRET=«[hex:32]»
paypal PAYPAL_CLIENT_SECRET=«[url:80]»
adyen X-API-Key: «AQE[b64:90]»
plaid PLAID_SECRET=«[hex:30]»
plaid PLAID-SECRET: «[hex:30]»
shopify X-Shopify-Access-Token: «[hex:32]»
hubspot hapikey=«[uuid]»
salesforce SFDC_SECURITY_TOKEN=«[an:24]»
linkedin LINKEDIN_CLIENT_SECRET=«[an:16]»
twitter TWITTER_ACCESS_TOKEN_SECRET=«[an:45]»
reddit REDDIT_CLIENT_SECRET=«[url:30]»
spotify SPOTIFY_CLIENT_SECRET=«[hex:32]»
twitch TWITCH_OAUTH_TOKEN=oauth:«[lo:30]»
steam STEAM_API_KEY=«[HEX:32]»
rapidapi X-RapidAPI-Key: «[lo:50]»
newsapi X-Api-Key: «[hex:32]»
openweather https://api.openweathermap.org/data/2.5/weather?q=Oslo&appid=«[hex:32]»
ngrok NGROK_AUTHTOKEN=«2[an:26]_[an:22]»
consul X-Consul-Token: «[uuid]»
nomad X-Nomad-Token: «[uuid]»
vault X-Vault-Token: «[an:26]»
digitalocean DIGITALOCEAN_ACCESS_TOKEN=«[hex:64]»
linode LINODE_TOKEN=«[hex:64]»
hetzner HCLOUD_TOKEN=«[an:64]»
vultr VULTR_API_KEY=«[UP:36]»
ovh OVH_CONSUMER_KEY=«[hex:32]»
scaleway SCW_SECRET_KEY=«[uuid]»
fastly Fastly-Key: «[url:32]»
bunny AccessKey: «[uuid]»
docker DOCKERHUB_PASSWORD=«[an:16]»
pulumi PULUMI_CONFIG_PASSPHRASE=«[an:20]»
fly FLY_API_TOKEN=«[url:43]»
github-webhook GITHUB_WEBHOOK_SECRET=«[hex:40]»
x-amz X-Amz-Security-Token: «[b64:160]»
csrf X-CSRF-Token: «[b64:44]»
apikey apikey: «[hex:32]»
access-token access-token: «[an:40]»
client-secret client-secret: «[an:40]»
`

export const CONNECTIONS = `
postgres postgres://app:«[an:16]»@db.acme.test:5432/app
postgres postgresql+asyncpg://app:«[pw:14]»@10.0.0.5/app
postgres postgres://app:«[an:8]/[an:8]»@db.acme.test/app
mysql mysql://root:«[an:12]»@127.0.0.1:3306/shop?ssl=true
mysql jdbc:mysql://db.acme.test/shop?user=app&password=«[an:14]»
mongodb mongodb+srv://svc:«[an:18]»@cluster0.ab1cd.mongodb.net/app
redis redis://:«[an:24]»@cache.acme.test:6379/0
redis rediss://default:«[url:40]»@eu1.upstash.io:6379
amqp amqps://user1:«[an:20]»@rabbit.acme.test/vhost
kafka org.apache.kafka.common.security.plain.PlainLoginModule required username="[UP:16]" password="«[b64:64]»";
sqlserver Server=tcp:db.database.windows.net,1433;Database=app;User ID=sa;Password=«[pw:14]»;Encrypt=True;
sqlserver Data Source=db;Initial Catalog=app;uid=sa;pwd=«[an:12]»
odbc Driver={PostgreSQL};Server=db;Uid=app;Pwd=«[an:14]»;
libpq host=db.acme.test port=5432 user=app password=«[an:14]» dbname=app
oracle jdbc:oracle:thin:scott/«[an:12]»@//db.acme.test:1521/orcl
azure-storage DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=«[b64:86]==»;EndpointSuffix=core.windows.net
azure-servicebus Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=«[b64:43]=»
azure-cosmos AccountEndpoint=https://acme.documents.azure.com:443/;AccountKey=«[b64:86]==»;
azure-sas https://acme.blob.core.windows.net/c/f?sv=2022-11-02&se=2026-01-01&sp=r&sig=«[b64:43]%3D»
s3-presigned https://acme.s3.amazonaws.com/f?X-Amz-Expires=900&X-Amz-Signature=«[hex:64]»
gcs-signed https://storage.googleapis.com/b/o?X-Goog-Signature=«[hex:128]»
http https://deploy:«[an:20]»@git.acme.test/app.git
http https://oauth2:«[url:26]»@gitlab.acme.test/app.git
sidekiq https://[hex:8]:«[hex:8]»@gems.contribsys.com/
http https://«[hex:40]»@github.com/acme/app.git
sentry-dsn https://«[hex:32]»@o1.ingest.sentry.io/42
smtp smtps://mailer%40acme.test:«[an:16]»@smtp.acme.test:465
ldap ldap://cn=admin:«[an:14]»@ldap.acme.test
ftp ftp://web:«[an:12]»@ftp.acme.test/htdocs
snowflake snowflake://app:«[an:16]»@acme-eu/db
clickhouse clickhouse://default:«[an:16]»@ch.acme.test:9000
turso libsql://app.turso.io?authToken=«[jwt]»
url-token https://api.acme.test/v1/items?access_token=«[an:40]»
url-key https://maps.acme.test/js?key=«[url:39]»&libraries=places
url-apikey https://rpc.acme.test/?apikey=«[hex:32]»
infura https://mainnet.infura.io/v3/«[hex:32]»
alchemy https://eth-mainnet.g.alchemy.com/v2/«[url:32]»
`

export const DOTENV = `
database DB_PASSWORD=«[let:14]»
database DB_PASSWORD=«[low:14]»
database DB_PASSWORD=«[an:12]»
database DB_PASSWORD="«[pw:16]»"
database export DATABASE_PASSWORD='«[pw:14]»'
database DB_PASS=«[an:12]»
postgres PGPASSWORD=«[an:12]»
postgres POSTGRES_PASSWORD: «[an:14]»
mysql MYSQL_ROOT_PASSWORD=«[an:14]»
mysql MYSQL_PWD=«[an:12]»
redis REDIS_PASSWORD=«[hex:24]»
laravel APP_KEY=base64:«[b64:43]=»
django SECRET_KEY='django-insecure-«[an:50]»'
rails SECRET_KEY_BASE=«[hex:128]»
rails RAILS_MASTER_KEY=«[hex:32]»
next NEXTAUTH_SECRET=«[b64:43]=»
jwt JWT_SECRET=«[an:32]»
session SESSION_SECRET=«[an:24]»
cookie COOKIE_SECRET=«[an:24]»
encryption ENCRYPTION_KEY=«[hex:64]»
hmac HMAC_KEY=«[hex:64]»
salt PASSWORD_SALT=«[an:22]»
salt HASH_SALT=«[an:20]»
wordpress AUTH_KEY='«[pw:64]»'
wordpress NONCE_SALT='«[pw:64]»'
mnemonic MNEMONIC="«ripple scissors kick mammal hire column oak again sun offer wealth tomorrow»"
mnemonic SEED_PHRASE="«orbit basket lumber velvet kite sudden tragic wisdom fever matrix dove canyon»"
ethereum PRIVATE_KEY=0x«[hex:64]»
ethereum DEPLOYER_PRIVATE_KEY=«[hex:64]»
bitcoin WALLET_XPRV=xprv«[an:107]»
ftp FTP_CREDENTIALS=deploy:«[an:12]»
basic BASIC_AUTH=admin:«[an:12]»
smtp SMTP_PASS=«[an:16]»
gmail EMAIL_HOST_PASSWORD='«[low:4] [low:4] [low:4] [low:4]»'
admin ADMIN_PASSWORD=«[pw:12]»
api API_TOKEN=«[an:32]»
api ACCESS_TOKEN=«[url:43]»
api SERVICE_ACCOUNT_KEY=«[b64:120]»
slack SLACK_SIGNING_SECRET=«[hex:32]»
s3 S3_SECRET=«[b64:40]»
minio MINIO_ROOT_PASSWORD=«[an:16]»
ansible ANSIBLE_VAULT_PASSWORD=«[an:18]»
restic RESTIC_PASSWORD=«[an:20]»
borg BORG_PASSPHRASE='«[pw:20]»'
keystore KEYSTORE_PASSWORD=«[an:12]»
android storePassword=«[an:12]»
recaptcha RECAPTCHA_SECRET=6L«[url:38]»
windows set DB_PASSWORD=«[an:14]»
powershell $env:API_KEY = "«[an:32]»"
fernet FERNET_KEY=«[url:43]=»
`

export const CODE = `
python password = "«[an:14]»"
python passwd="«[low:9]7»"
python PASSWORD = '«[pw:12]»'
python requests.get(url, auth=("admin", "«[an:14]»"))
python boto3.client("s3", aws_access_key_id="AKIA[B32:16]", aws_secret_access_key="«[b64:40]»")
python os.environ["API_KEY"] = "«[an:32]»"
python psycopg2.connect(host="db", user="app", password="«[an:12]»")
python conn = pymysql.connect(host='db', user='app', passwd='«[an:12]»')
javascript const apiKey = '«[an:32]»'
javascript const client = new Client({ apiKey: "«[an:32]»" })
javascript headers: { Authorization: \`Bearer «[an:40]»\` }
javascript headers.set('x-api-key', '«[an:40]»')
typescript private readonly secretKey: string = "«[an:32]»";
java String password = "«[pw:12]»";
java DriverManager.getConnection(url, "app", "«[an:14]»");
java spring.datasource.password=«[an:14]»
java System.setProperty("javax.net.ssl.keyStorePassword", "«[an:12]»");
csharp var client = new SecretClient(new Uri(url), new ClientSecretCredential(tenant, id, clientSecret: "«[an:40]»"));
csharp <add key="ApiSecret" value="«[an:32]»" />
csharp "Jwt": { "Key": "«[an:40]»" }
go apiKey := "«[an:32]»"
go cfg.Password = "«[an:14]»"
rust let api_key = "«[an:32]»";
ruby config.secret_key = '«[hex:64]»'
ruby password: '«[an:14]»'
php define('DB_PASSWORD', '«[an:14]»');
php define( 'AUTH_KEY', '«[pw:64]»' );
php $db_password = "«[an:14]»";
php 'password' => '«[an:14]»',
php mysqli_connect("localhost", "app", "«[an:14]»", "shop");
terraform password = "«[an:16]»"
terraform master_password      = "«[pw:16]»"
ansible ansible_ssh_pass: «[an:14]»
ansible ansible_become_password: "«[an:14]»"
compose - POSTGRES_PASSWORD=«[an:14]»
compose MYSQL_PASSWORD: «[low:14]»
yaml password: «[an:12]»
yaml client_secret: «[an:40]»
yaml token: «[hex:40]»
toml api_key = "«[hex:40]»"
ini [client]¶user=app¶password=«[an:14]»
properties db.password=«[an:14]»
json {"username":"app","password":"«[an:14]»"}
json {"client_id":"web","client_secret":"«[url:40]»"}
json {"token":"«[an:40]»","expires":3600}
json {"accessKeyId":"AKIA[B32:16]","secretAccessKey":"«[b64:40]»"}
json {"refresh_token":"«[url:60]»"}
xml <password>«[an:14]»</password>
xml <property name="password" value="«[an:14]»"/>
xml <server><username>ci</username><password>«[an:14]»</password></server>
gradle signing.password=«[an:14]»
maven <passphrase>«[an:14]»</passphrase>
nginx proxy_set_header Authorization "Basic «[b64:28]=»";
wireguard PrivateKey = «[b64:43]=»
wireguard PresharedKey = «[b64:43]=»
wifi psk="«[an:14]»"
wifi wpa_passphrase=«[an:14]»
rclone pass = «[url:40]»
mysql-sql CREATE USER 'app'@'%' IDENTIFIED BY '«[an:14]»';
postgres-sql ALTER USER app WITH PASSWORD '«[an:14]»';
snowflake-sql CREATE USER app PASSWORD = '«[an:14]»';
redis-conf requirepass «[an:24]»
redis-conf masterauth «[an:24]»
jwk {"kty":"RSA","n":"[url:40]","e":"AQAB","d":"«[url:80]»"}
htpasswd {"htpasswd":"admin:«[an:14]»"}
cisco enable secret «[an:14]»
cisco username admin password 0 «[an:14]»
kubernetes stringData:¶  api-token: «[an:32]»
`

export const COOKIES = `
bearer Authorization: Bearer «[an:40]»
bearer authorization: bearer «[url:60]»
bearer "Authorization": "Bearer «[jwt]»"
bearer -H 'Authorization: Bearer «[hex:40]»'
basic Authorization: Basic «[b64:32]=»
basic Proxy-Authorization: Basic «[b64:28]»
digest Authorization: Digest username="app", realm="r", nonce="[hex:32]", uri="/", response="«[hex:32]»"
token Authorization: token «[hex:40]»
raw Authorization: «[an:40]»
cookie Cookie: sid=«[an:32]»; theme=dark
cookie Cookie: theme=dark; sessionid=«[lo:32]»
set-cookie Set-Cookie: connect.sid=s%3A«[an:32].[an:43]»; Path=/; HttpOnly
set-cookie set-cookie: __Secure-next-auth.session-token=«[url:90]»; Secure
laravel Set-Cookie: laravel_session=eyJ«[an:80]»; path=/
php Cookie: PHPSESSID=«[lo:26]»
java Cookie: JSESSIONID=«[HEX:32]»
aspnet Cookie: .AspNetCore.Cookies=«[url:90]»
gitlab _gitlab_session=«[hex:32]»
x-auth X-Auth-Token: «[an:32]»
x-api x-api-key: «[an:40]»
x-goog x-goog-api-key: «[url:39]»
api-key "api-key": "«[hex:32]»"
x-secret X-Secret: «[an:32]»
x-access X-Access-Token: «[an:40]»
curl curl -b 'session=«[an:32]»' https://acme.test
har {"name":"Authorization","value":"Bearer «[an:40]»"}
har {"name": "cookie", "value": "sid=«[an:40]»"}
`

export const CREDENTIAL_FILES = `
kubeconfig client-key-data: LS0tLS1CRUdJTi«[b64:200]»
kubeconfig     token: «[jwt]»
kubeconfig   user:¶    password: «[an:16]»
docker {"auths":{"https://index.docker.io/v1/":{"auth":"«[b64:40]»"}}}
docker "auth": "«[b64:38]==»"
docker "identitytoken": "«[url:60]»"
docker "registrytoken": "«[url:60]»"
netrc machine api.heroku.com login me@acme.test password «[uuid]»
netrc machine github.com¶  login me¶  password «[an:30]»
netrc default login me password «[low:6][dig:3]»
pgpass db.acme.test:5432:app:svc:«[an:14]»
pgpass *:5432:*:postgres:«[an:14]»
pgpass localhost:5432:app:app:«[let:12]»
aws-credentials [default]¶aws_access_key_id = AKIA[B32:16]¶aws_secret_access_key = «[b64:40]»
git-credentials https://me:«[an:30]»@github.com
npmrc _authToken=«[an:36]»
npmrc //registry.npmjs.org/:_authToken=«[uuid]»
pypirc [pypi]¶username = __token__¶password = «[an:40]»
gem :rubygems_api_key: «[hex:40]»
cargo [registry]¶token = "«[an:35]»"
terraformrc credentials "app.terraform.io" { token = "«[an:40]»" }
boto [Credentials]¶gs_oauth2_refresh_token = «[url:60]»
s3cfg secret_key = «[b64:40]»
gh github.com:¶    oauth_token: «[hex:40]»
hub oauth_token: «[hex:40]»
maven-settings <password>{«[b64:43]=»}</password>
gcloud "refresh_token": "«[url:90]»"
azure-cli "accessToken": "«[jwt]»"
claude {"claudeAiOauth":{"accessToken":"«[url:90]»","refreshToken":"«[url:90]»"}}
codex {"OPENAI_API_KEY":null,"tokens":{"id_token":"«[jwt]»","access_token":"«[url:90]»"}}
shadow root:$6$«[an:12]$[b64:86]»:19000:0:99999:7:::
htpasswd admin:$apr1$«[an:8]$[b64:22]»
bcrypt $2b$12$«[an:53]»
argon2 $argon2id$v=19$m=65536,t=3,p=4$«[b64:22]$[b64:43]»
`

export const SHELLS_AND_PROSE = `
mysql mysql -u root -p«[an:12]» shop
mysql mysqldump --user=app --password=«[an:12]» shop
mysql mysql -h db -uapp -p'«[pw:12]»' shop
psql PGPASSWORD=«[an:12]» psql -h db -U app
psql psql "postgresql://app:«[an:14]»@db/app"
curl curl -u admin:«[an:12]» https://acme.test/api
curl curl --user 'admin:«[pw:12]»' https://acme.test/api
curl curl -uadmin:«[an:12]» https://acme.test
curl curl -H "X-API-Key: «[an:32]»" https://acme.test
wget wget --user=me --password='«[an:12]»' https://acme.test/f
wget wget --http-password=«[an:12]» https://acme.test/f
sshpass sshpass -p «[an:12]» ssh root@10.0.0.5
sshpass sshpass -p'«[an:12]»' scp f root@10.0.0.5:
docker docker login -u me -p «[an:20]» registry.acme.test
docker echo «[an:20]» | docker login --username me --password-stdin
docker docker run -e POSTGRES_PASSWORD=«[an:14]» postgres
docker ENV API_KEY «[an:32]»
docker ENV DB_PASSWORD=«[an:14]»
docker ARG NPM_TOKEN=«[an:36]»
helm helm repo add acme https://charts.acme.test --username me --password «[an:14]»
kubectl kubectl create secret generic db --from-literal=password=«[an:14]»
redis redis-cli -h cache -a «[an:20]» ping
redis AUTH «[an:24]»
mongo mongosh --username app --password «[an:14]» --host db
openssl openssl enc -aes-256-cbc -pass pass:«[an:14]» -in f
openssl openssl pkcs12 -in k.p12 -passin pass:«[an:12]»
keytool keytool -importkeystore -srcstorepass «[an:12]» -deststorepass «[an:12]»
ssh-keygen ssh-keygen -t ed25519 -N '«[pw:12]»' -f id
zip zip -P «[an:12]» out.zip f
7z 7z a -p«[an:12]» out.7z f
gpg gpg --batch --passphrase «[an:14]» -d f.gpg
ldap ldapsearch -D cn=admin -w «[an:12]» -b dc=acme
smb smbclient //srv/share -U 'me%«[an:12]»'
net net use Z: \\\\srv\\share «[an:12]» /user:acme\\me
windows setx API_KEY «[an:32]»
windows setx DB_PASSWORD "«[an:14]»" /M
fish set -x API_KEY «[an:32]»
fish set -gx GITHUB_TOKEN «[hex:40]»
csh setenv API_TOKEN «[an:32]»
bash export TOKEN="«[an:40]»"
bash read -s PASS <<< '«[an:12]»'
htpasswd htpasswd -b .htpasswd admin «[an:12]»
chpasswd echo 'root:«[an:12]»' | chpasswd
useradd usermod --password '«[an:20]»' me
az az login --service-principal -u app -p «[an:40]» --tenant t
aws aws configure set aws_secret_access_key «[b64:40]»
heroku heroku config:set API_KEY=«[an:32]»
gh gh secret set DEPLOY_KEY --body «[an:40]»
vault vault kv put secret/db password=«[an:14]»
vault vault login «[an:26]»
npm npm config set //registry.npmjs.org/:_authToken «[an:36]»
git git remote add origin https://me:«[an:30]»@github.com/acme/app.git
http http -a admin:«[an:12]» acme.test/api
english the password is «[an:12]»
english Password: «[an:12]»
english My password is «[pw:12]», please change it.
english use the API key «[an:32]» for now
english login: admin / password: «[an:10]»
english Your temporary password: «[an:10]»
english credentials: admin/«[an:12]»
english the token for staging is «[an:40]»
english passphrase "«[pw:14]»"
french le mot de passe est «[an:12]»
french Mot de passe : «[an:12]»
spanish la contraseña es «[an:12]»
spanish Contraseña: «[an:12]»
german das Passwort ist «[an:12]»
german Kennwort: «[an:12]»
portuguese a senha é «[an:12]»
italian la password è «[an:12]»
russian пароль: «[an:12]»
chinese 密码是 «[an:12]»
chinese 密码：«[an:12]»
japanese パスワード: «[an:12]»
korean 비밀번호: «[an:12]»
table | password | «[an:12]» |
table | DB_PASSWORD | «[an:14]» | production |
table | user | password |¶|---|---|¶| admin | «[an:12]» |
table password    «[an:12]»
markdown **Password:** «[an:12]»
markdown - **API key**: \`«[an:32]»\`
markdown Password: \`«[pw:12]»\`
html <input type="password" name="pw" value="«[an:12]»">
html <input name="password" value="«[an:12]»" type="text">
html <meta name="csrf-token" content="«[b64:44]»">
html <td>Password</td><td>«[an:12]»</td>
csv name,password¶admin,«[an:12]»
log login failed for user=admin password=«[an:12]» ip=10.0.0.5
log {"level":"info","msg":"auth","token":"«[an:40]»"}
query POST /login username=me&password=«[an:12]»&go=1
form username=me&passwd=«[an:12]»
graphql mutation { login(email: "a@acme.test", password: "«[an:12]»") { id } }
diff -API_KEY=«[an:32]»
`

/** What people and programs say in other words than the tables above. */
export const OTHER_WORDS = `
said mysql -uroot -p"[an:12]" db
said mysql --password '[an:12]'
said export MYSQL_PWD=[an:12]
said sshpass -p[an:10]! ssh u@h
said docker login --username foo --password [an:14]
said redis-cli -u redis://:[an:14]@h:6379
said redis-cli --pass [an:14]
said openssl rsa -in k.pem -passin pass:[an:14]
said openssl enc -aes-256-cbc -k [an:14] -in f
said setx AWS_SECRET_ACCESS_KEY "[b64:40]"
said $env:AWS_SECRET = '[b64:40]'
said set -Ux OPENAI_API_KEY [an:40]
said ENV OPENAI_API_KEY=[an:40]
said RUN echo "[an:20]" | docker login -u u --password-stdin
said the password for the admin user is: [an:12]
said password is set to [an:12]
said I changed the password to [an:12]
said passwort: [an:12]
said Das Kennwort lautet [an:12]
said le mot de passe : [an:12]
said mdp: [an:12]
said mot de passe = [an:12]
said clave: [an:12]
said la clave es [an:12]
said contraseña = [an:12]
said 密码为[an:12]
said 密码: [an:12]
said 密碼：[an:12]
said 口令：[an:12]
said 密钥: [an:24]
said 令牌: [an:24]
said | Password | \`[an:12]\` |
said | Admin password | [an:12] |
said Password | [an:12]
said **Password**: [an:12]
said *Password:* [an:12]
said Password: **[an:12]**
said - Password: [an:12]
said <b>Password:</b> [an:12]
said <b>Password:</b> <code>[an:12]</code>
said <input type="password" value="[an:12]">
said <input id=password value=[an:12]>
said ssh-keygen -t rsa -b 4096 -N "[an:12]" -f k
said wget --http-user=u --http-password=[an:12] h
said curl --basic -u "u:[an:12]" h
said curl -H 'Authorization: token [an:40]' h
said curl --oauth2-bearer [an:40] h
said curl -d 'password=[an:12]' h
said curl -d '{"user":"u","password":"[an:12]"}' h
said curl --proxy-user u:[an:12] h
said kubectl create secret docker-registry r --docker-password=[an:12]
said gcloud sql users set-password root --password=[an:12]
said heroku config:set SECRET=[an:20]
said firebase functions:config:set stripe.secret="[an:24]"
said flyctl secrets set API_KEY=[an:24]
said gh auth login --with-token <<< [an:36]
said vault write auth/userpass/login/u password=[an:12]
said consul kv put db/password [an:12]
said etcdctl put /db/password [an:12]
said htpasswd -nb u [an:12]
said mongo -u u -p [an:12] --host h
said influx -username u -password [an:12]
said sqlcmd -S s -U sa -P [an:12]
said ansible-playbook -e "db_password=[an:12]" p.yml
said terraform apply -var "db_password=[an:12]"
said ldapsearch -x -w [an:12] -b dc
said mount -t cifs -o username=u,password=[an:12] //h/s /m
said cmdkey /add:h /user:u /pass:[an:12]
said echo [an:12] | sudo -S ls
said echo '[an:12]' | passwd --stdin root
said su - u <<< [an:12]
said unzip -P [an:12] f.zip
said snmpget -v3 -A [an:12] h
said smbclient //h/s -U u%[an:12]
said xfreerdp /v:h /u:u /p:[an:12]
said nmcli dev wifi connect ssid password [an:12]
said wpa_passphrase ssid [an:12]
said jarsigner -storepass [an:12] a.jar
said sqlplus scott/[an:12]@db
said lftp -u u,[an:12] h
said svn co --username u --password [an:12] h
said pip install --index-url https://u:[an:12]@h/simple x
said twine upload -u u -p [an:14] dist/*
said cargo login [an:35]
said dotnet nuget push p -k [an:40]
said dotnet nuget push p --api-key [an:40]
said yarn config set npmAuthToken [an:36]
said composer config http-basic.h u [an:20]
said mvn -Dpassword=[an:12] deploy
said gradle -PsigningPassword=[an:12] publish
said java -Dspring.datasource.password=[an:12] -jar a.jar
said python app.py --db-password [an:12]
said java -Djavax.net.ssl.keyStorePassword=[an:12]
said Username: admin, Password: [an:12]
said user: admin pass: [an:12]
said admin:[an:12]@10.0.0.5
said login with admin / [an:12]
said creds: admin:[an:12]
said Here is my API key: [an:32]
said API Key = [an:32]
said api-key [an:32]
said my key is [an:32]
said access key: [an:32]
said Secret: [an:24]
said token=[hex:32]
said Bearer [an:40]
said OTP secret: [an:16]
said recovery phrase: «ripple scissors kick mammal hire column oak again sun offer wealth tomorrow»
said "mnemonic": "«ripple scissors kick mammal hire column oak again sun offer wealth tomorrow»"
said db_pass = '[an:12]'
said dbPassword: '[an:12]',
said const dbPass = "[an:12]";
said pwd: [an:12]
said "pwd": "[an:12]"
said PWD=[an:12]
said password := "[an:12]"
said password=>'[an:12]'
said :password => "[an:12]"
said password("[an:12]")
said .withPassword("[an:12]")
said setPassword("[an:12]")
said setApiKey('[an:32]')
said api_key('[an:32]')
said Password="[an:12]"
said Pwd=[an:12];
said Password=[an:12];Trusted_Connection=False
said <Password>[an:12]</Password>
said <string name="api_key">[an:32]</string>
said <key>ApiKey</key><string>[an:32]</string>
said <add key="Password" value="[an:12]" />
said api_key = os.getenv("KEY", "[an:32]")
said process.env.API_KEY = '[an:32]'
said process.env.API_KEY || '[an:32]'
said credentials("u", "[an:12]")
said HTTPBasicAuth('u', '[an:12]')
said new NetworkCredential("u", "[an:12]")
said UsernamePasswordCredentials("u", "[an:12]")
said paramiko connect(hostname='h', username='u', password='[an:12]')
said redis.Redis(host='h', password='[an:12]')
said JWT_SECRET_KEY: "[an:32]"
said signing_secret: [an:32]
said webhook_secret = [an:32]
said consumer_secret=[an:40]
said X-Auth-Token: [hex:32]
said X-Gitlab-Token: [an:20]
said X-API-Token: [an:32]
said api_token: [an:32]
said apitoken=[an:32]
said auth_token=[hex:40]
said authtoken: [an:40]
said access_key=[an:20]
said secret_access_key=[b64:40]
said client_id=x&client_secret=[an:32]
said https://h/hook?token=[an:32]
said https://h/?auth=[an:32]
said https://h/?api_key=[hex:32]
said https://h/?access_key=[hex:32]
said https://h/?sig=[an:43]
said wss://h/?token=[an:32]
said sftp://u:[an:12]@h/p
said ssh://git:[an:12]@h/r
said imap://u:[an:12]@h
said nats://u:[an:12]@h:4222
said mqtt://u:[an:12]@h
said elasticsearch: https://elastic:[an:20]@h:9200
said mongodb://u:[an:12]@h1,h2/db?replicaSet=r
said Server=h;Database=d;User Id=u;Password=[an:12];
said host=h user=u password=[an:12] sslmode=require
said AccountKey=[b64:86]==
said SharedAccessSignature=sr=h&sig=[an:43]%3D&se=1
said "auth": "[b64:36]"
said "_auth": "[b64:36]"
said _authToken=[uuid]
said registry=https://h/:_authToken=[an:36]
said "connectionString": "Server=h;Uid=u;Pwd=[an:12];"
said requirepass [an:12]
said user default on >[an:12] ~* +@all
said masterauth [an:12]
said smtp_sasl_password_maps u:[an:12]
said [smtp.h]:587 u:[an:12]
said MAIL_PASSWORD=[an:16]
said vnc password: [an:8]
said wifi password: [an:10]
said sudo password is [an:10]
said root password [an:12]
said temporary password is "[an:12]"
said default login: admin/[an:10]
said initialAdminPassword: [hex:32]
said Token: [hex:40]
said Your token is [an:40]
said Save this token: [an:40]
said secretKey=[an:40]
said privateKey: '0x[hex:64]'
said seed: "«ripple scissors kick mammal hire column oak again sun offer wealth tomorrow»"
said BIP39: «ripple scissors kick mammal hire column oak again sun offer wealth tomorrow»
said encryption key is [hex:64]
said AES key: [hex:64]
said iv and key: [hex:64]
said ssh-rsa private passphrase: [an:12]
`

/** What programs print, and variables that agents set. */
export const OUTPUT = `
printed "Env": ["POSTGRES_PASSWORD=[an:12]","PATH=/bin"]
printed   password: [b64:24]
printed data:¶  password: «[b64:20]»
printed kind: Secret¶data:¶  api-key: «[b64:32]»
printed     "SecretAccessKey": "[b64:40]",
printed     "SessionToken": "[b64:120]",
printed url.https://x:[an:30]@github.com/.insteadof
printed root 1 0.0 mysqld --password=[an:12]
printed > Authorization: Basic [b64:28]
printed * Server auth using Basic with user 'u'¶> authorization: Bearer «[an:40]»
printed sqlalchemy.exc.OperationalError: (psycopg2) postgresql://u:[an:12]@db/x
printed DATABASE_URL:    postgres://u:[hex:64]@ec2-1.compute.amazonaws.com:5432/d
printed Ready! Your webhook signing secret is whsec_[hex:64]
printed service_role key: [jwt]
printed JWT secret: [an:40]
printed apiKey: "AIza[url:35]",
printed Authtoken saved: [an:27]_[an:22]
printed "accessToken": "[jwt]",
printed "secretString": "{\\"password\\":\\"[an:12]\\"}"
printed SecretString: '{"username":"u","password":"[an:12]"}'
printed vault_token = hvs.[an:90]
printed Initial Root Token: hvs.[an:24]
printed Unseal Key 1: [b64:44]
printed root_token: s.[an:24]
printed sops_age_key: AGE-SECRET-KEY-1[UP:58]
printed KUBECONFIG user token: [jwt]
printed bearer_token: [an:40]
printed grafana admin password: [an:12]
printed ARGOCD_PASSWORD=[an:16]
printed argocd login h --username admin --password [an:16]
printed kubectl config set-credentials u --token=[an:40]
printed kubectl create secret generic s --from-literal=api_key=[an:32]
printed helm upgrade r c --set db.password=[an:12]
printed helm upgrade r c --set-string auth.secretKey=[an:32]
printed docker run -e API_KEY=[an:32] img
printed docker build --build-arg NPM_TOKEN=[an:36] .
printed export AWS_SECRET_ACCESS_KEY="[b64:40]"
printed aws_session_token=[b64:160]
printed gcloud auth activate-service-account --key-file=k.json¶"private_key_id": "x", "private_key": "-----BEGIN PRIVATE KEY-----\\n«[b64:64]\\n[b64:64]»\\n-----END PRIVATE KEY-----\\n"
printed az storage blob upload --account-key [b64:86]==
printed az storage blob upload --sas-token "sv=2022&sig=[url:43]%3D"
printed AZURE_STORAGE_CONNECTION_STRING="DefaultEndpointsProtocol=https;AccountName=a;AccountKey=[b64:86]==;EndpointSuffix=core.windows.net"
printed CONNECTION_STRING=Server=h;User=u;Password=[an:14];
printed Redis: redis://default:[an:32]@redis-1.upstash.io:6379
printed REDIS_URL=rediss://:[hex:64]@h:6380
printed SENTRY_DSN=https://[hex:32]@o1.ingest.sentry.io/1
printed SLACK_WEBHOOK=https://hooks.slack.com/services/T[UP:8]/B[UP:10]/[an:24]
printed TELEGRAM_BOT_TOKEN=[dig:10]:AA[url:33]
printed https://api.telegram.org/bot[dig:10]:AA[url:33]/getMe
printed DISCORD_TOKEN=MTA[an:21].[an:6].[url:38]
printed client.login("MTA[an:21].[an:6].[url:38]")
printed STRIPE_SECRET_KEY=sk_test_[an:99]
printed stripe.api_key = "sk_live_[an:24]"
printed openai.api_key = "sk-proj-[url:120]"
printed client = OpenAI(api_key="sk-[an:48]")
printed ANTHROPIC_API_KEY='sk-ant-api03-[url:93]AA'
printed "anthropic": {"apiKey": "sk-ant-api03-[url:93]AA"}
printed HF_TOKEN=hf_[an:34]
printed huggingface-cli login --token hf_[an:34]
printed wandb login [hex:40]
printed WANDB_API_KEY=[hex:40]
printed replicate auth: r8_[an:37]
printed ghp token: ghp_[an:36]
printed git clone https://ghp_[an:36]@github.com/a/b
printed git clone https://x-access-token:ghs_[an:36]@github.com/a/b
printed gh auth token¶gho_[an:36]
printed NPM_TOKEN=npm_[an:36]
printed //registry.npmjs.org/:_authToken=npm_[an:36]
printed pypi-AgEIcHlwaS5vcmc[url:140]
printed TWINE_PASSWORD=pypi-AgEIcHlwaS5vcmc[url:140]
printed CARGO_REGISTRY_TOKEN=cio[an:32]
printed DOCKER_AUTH_CONFIG={"auths":{"r":{"auth":"[b64:36]"}}}
printed COSIGN_PASSWORD=[an:16]
printed GPG_PASSPHRASE=[an:16]
printed CODECOV_TOKEN: [uuid]
printed SONAR_TOKEN=sqp_[hex:40]
printed SNYK_TOKEN=[uuid]
printed CLOUDFLARE_API_TOKEN=[url:40]
printed CF_API_KEY: [hex:37]
printed DO_TOKEN=dop_v1_[hex:64]
printed HCLOUD_TOKEN=[an:64]
printed LINODE_CLI_TOKEN=[hex:64]
printed FLY_API_TOKEN="FlyV1 fm2_[b64:160]"
printed VERCEL_TOKEN=[an:24]
printed NETLIFY_AUTH_TOKEN=nfp_[an:36]
printed SUPABASE_SERVICE_ROLE_KEY=[jwt]
printed PLANETSCALE_PASSWORD=pscale_pw_[an:43]
printed MONGO_URI=mongodb+srv://u:[an:16]@c.mongodb.net/d
printed ELASTIC_PASSWORD=[an:20]
printed KIBANA_ENCRYPTION_KEY=[hex:32]
printed RABBITMQ_DEFAULT_PASS=[an:16]
printed MINIO_SECRET_KEY=[an:40]
printed TWILIO_AUTH_TOKEN=[hex:32]
printed SENDGRID_API_KEY=SG.[url:22].[url:43]
printed MAILGUN_API_KEY=[hex:32]-[hex:8]-[hex:8]
printed POSTMARK_API_TOKEN=[uuid]
printed RESEND_API_KEY=re_[an:8]_[an:24]
printed SHOPIFY_API_SECRET=shpss_[hex:32]
printed SQUARE_ACCESS_TOKEN=EAAA[url:60]
printed PAYPAL_SECRET=[url:80]
printed PLAID_SECRET=[hex:30]
printed COINBASE_API_SECRET=[b64:88]
printed ALCHEMY_KEY=[url:32]
printed INFURA_API_KEY=[hex:32]
printed ETHERSCAN_API_KEY=[UP:34]
printed MNEMONIC='«ripple scissors kick mammal hire column oak again sun offer wealth tomorrow»'
printed OKTA_API_TOKEN=00[url:40]
printed AUTH0_SECRET=[hex:64]
printed CLERK_SECRET_KEY=sk_test_[an:42]
printed NEXTAUTH_SECRET="[b64:43]="
printed LINEAR_API_KEY=lin_api_[an:40]
printed NOTION_TOKEN=ntn_[an:46]
printed AIRTABLE_PAT=pat[an:14].[hex:64]
printed ASANA_PAT=2/[dig:16]/[dig:16]:[hex:32]
printed JIRA_TOKEN=ATATT3xFfGF0[url:170]=[HEX:8]
printed FIGMA_TOKEN=figd_[url:40]
printed DATADOG_API_KEY=[hex:32]
printed NEW_RELIC_LICENSE_KEY=[hex:36]NRAL
printed PAGERDUTY_TOKEN=[an:20]
printed POSTHOG_KEY=phc_[an:43]
printed SEGMENT_WRITE_KEY=[an:32]
printed MIXPANEL_SECRET=[hex:32]
printed ALGOLIA_API_KEY=[hex:32]
printed MAPBOX_TOKEN=sk.eyJ[url:60].[url:22]
printed GOOGLE_APPLICATION_CREDENTIALS_JSON={"private_key":"-----BEGIN PRIVATE KEY-----\\n«[b64:64]»\\n-----END PRIVATE KEY-----\\n"}
printed FIREBASE_PRIVATE_KEY="-----BEGIN PRIVATE KEY-----\\n«[b64:64]\\n[b64:64]»\\n-----END PRIVATE KEY-----\\n"
printed LAUNCHDARKLY_SDK_KEY=sdk-[uuid]
printed DOPPLER_TOKEN=dp.st.prd.[an:40]
printed TS_AUTHKEY=tskey-auth-[an:12]-[an:32]
printed ROBOFLOW_API_KEY=[an:20]
printed ELEVENLABS_API_KEY=sk_[hex:48]
printed XAI_API_KEY=xai-[an:80]
printed GROQ_API_KEY=gsk_[an:52]
printed MISTRAL_API_KEY=[an:32]
printed DEEPSEEK_API_KEY=sk-[hex:32]
printed PERPLEXITY_API_KEY=pplx-[an:48]
printed TOGETHER_API_KEY=[hex:64]
printed COHERE_API_KEY=[an:40]
printed AZURE_OPENAI_KEY=[an:84]
printed LANGSMITH_API_KEY=lsv2_pt_[hex:32]_[hex:10]
printed PINECONE_API_KEY=[uuid]
printed QDRANT_API_KEY=[jwt]
printed CHROMA_TOKEN=ck-[an:43]
`
